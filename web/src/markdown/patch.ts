// Makes a node's children equal to others, touching only what differs: text that grows keeps
// its node, so nothing flickers and a selection stays.

function sameKind(a: Node, b: Node): boolean {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName;
}

function patchAttributes(node: Element, wanted: Element): void {
  for (const { name } of [...node.attributes]) if (!wanted.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of [...wanted.attributes]) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
}

// Typeset already, from the same source.
function isDone(old: Node, wanted: Node): boolean {
  return old instanceof HTMLElement && old.dataset["source"] === wanted.textContent;
}

export function patchChildren(node: Node, wanted: Node): void {
  let old = node.firstChild;
  let next = wanted.firstChild;
  while (next) {
    const following = next.nextSibling;
    if (!old) {
      node.appendChild(next);
    } else if (!sameKind(old, next)) {
      const after: ChildNode | null = old.nextSibling;
      node.replaceChild(next, old);
      old = after;
    } else {
      if (old instanceof CharacterData) {
        if (old.data !== (next as CharacterData).data) old.data = (next as CharacterData).data;
      } else if (!isDone(old, next)) {
        patchAttributes(old as Element, next as Element);
        patchChildren(old, next);
      }
      old = old.nextSibling;
    }
    next = following;
  }
  while (old) {
    const after: ChildNode | null = old.nextSibling;
    node.removeChild(old);
    old = after;
  }
}
