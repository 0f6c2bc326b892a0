// KaTeX. Its HTML has style attributes, which the page's policy forbids in markup; they are
// carried over as data and set through the style object, which is allowed.
import "katex/dist/katex.min.css";

import DOMPurify from "dompurify";
import katex from "katex";

const CONFIG = {
  USE_PROFILES: { html: true, svg: true, mathMl: true },
  ADD_TAGS: ["semantics", "annotation"],
  FORBID_ATTR: ["style"],
  RETURN_DOM_FRAGMENT: true as const,
};

export function typeset(source: string, display: boolean): DocumentFragment {
  const html = katex.renderToString(source, {
    displayMode: display,
    throwOnError: false,
    strict: false,
    trust: false,
    maxSize: 20,
    maxExpand: 500,
  });
  // KaTeX escapes quotes in texts, so this finds attributes only.
  const nodes = DOMPurify.sanitize(html.replaceAll(' style="', ' data-style="'), CONFIG);
  for (const node of nodes.querySelectorAll<HTMLElement>("[data-style]")) {
    node.style.cssText = node.dataset["style"] ?? "";
    node.removeAttribute("data-style");
  }
  return nodes;
}
