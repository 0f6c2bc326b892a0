// What a block gets after it is in the page: colours for code, a copy button, formulas. The
// code for both is loaded when the first block wants it.
import { t } from "../i18n";
import { toNodes } from "./sanitize";

type Highlighter = typeof import("./highlighter");
type Typesetter = typeof import("./typesetter");

let highlighter: Highlighter | undefined;
let typesetter: Typesetter | undefined;

const MOST_COLOURED = 30_000; // characters; more would take too long

function colour(node: HTMLElement, { highlight }: Highlighter): void {
  const source = node.textContent ?? "";
  if (source.length > MOST_COLOURED) return;
  const html = highlight(source, node.dataset["language"] ?? "");
  if (html === undefined) return;
  node.replaceChildren(toNodes(html));
  node.classList.add("hljs");
}

function set(node: HTMLElement, { typeset }: Typesetter): void {
  const source = node.textContent ?? "";
  node.replaceChildren(typeset(source, node.classList.contains("math-display")));
  node.classList.add("math-done");
  node.dataset["source"] = source; // patchChildren leaves it alone while that is the same
}

function addHead(node: HTMLElement): void {
  const head = document.createElement("div");
  head.className = "code-head";
  const name = document.createElement("span");
  name.textContent = node.querySelector("code")?.dataset["language"] ?? "";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "code-copy";
  button.dataset["testid"] = "code-copy";
  button.textContent = t("copy");
  head.append(name, button);
  node.prepend(head);
}

// On the nodes of a block before they are put below `root`.
export function finishCode(nodes: DocumentFragment, root: HTMLElement): void {
  for (const node of nodes.querySelectorAll<HTMLElement>(".code")) addHead(node);
  const codes = [...nodes.querySelectorAll<HTMLElement>("code[data-language]:not([data-language=''])")];
  if (codes.length && highlighter) for (const node of codes) colour(node, highlighter);
  else if (codes.length) void colourLater(root);
}

async function colourLater(root: HTMLElement): Promise<void> {
  highlighter ??= await import("./highlighter");
  for (const node of root.querySelectorAll<HTMLElement>("code[data-language]:not(.hljs):not([data-language=''])")) {
    colour(node, highlighter);
  }
}

const formulasIn = (root: HTMLElement): HTMLElement[] => [
  ...root.querySelectorAll<HTMLElement>(".math:not(.math-done)"),
];

// On what is in the page already.
export function finishMath(root: HTMLElement): void {
  const formulas = formulasIn(root);
  if (formulas.length && typesetter) for (const node of formulas) set(node, typesetter);
  else if (formulas.length) void setLater(root);
}

async function setLater(root: HTMLElement): Promise<void> {
  typesetter ??= await import("./typesetter");
  for (const node of formulasIn(root)) set(node, typesetter);
}

// The one listener for all copy buttons below `root`.
export function onCopyClick(event: Event): void {
  const button = (event.target as Element).closest<HTMLButtonElement>(".code-copy");
  const code = button?.closest(".code")?.querySelector("code")?.textContent;
  if (!button || code === null || code === undefined) return;
  void copyText(code).then((copied) => {
    if (!copied) return;
    button.textContent = t("copied");
    setTimeout(() => (button.textContent = t("copy")), 1500);
  });
}

// The clipboard's own interface needs a secure address; other pages select and copy.
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}
