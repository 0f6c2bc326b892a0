// Rules that find formulas in Markdown: $x$, $$x$$, \(x\), \[x\]. A formula becomes a `math`
// element that carries its source; it is typeset once KaTeX is there.
import type MarkdownIt from "markdown-it";
import type { StateBlock, StateInline } from "markdown-it/index.js";

interface Pair {
  open: string;
  close: string;
  display: boolean;
}

// Longer marks first: $$ is not an empty $ formula.
const PAIRS: Pair[] = [
  { open: "$$", close: "$$", display: true },
  { open: "\\[", close: "\\]", display: true },
  { open: "\\(", close: "\\)", display: false },
  { open: "$", close: "$", display: false },
];

// Money is no formula: a closing $ follows no space and no digit follows it.
function isFormula(source: string, start: number, end: number, pair: Pair): boolean {
  const inside = source.slice(start, end);
  if (inside.trim() === "") return false;
  if (pair.open !== "$") return true;
  return !/^\s|\s$|\n\n/.test(inside) && !/\d/.test(source[end + 1] ?? "");
}

// Where the formula ends that begins at `start`; -1 if it does not.
function closeOf(source: string, start: number, limit: number, mark: string): number {
  for (let at = source.indexOf(mark, start); at >= 0 && at + mark.length <= limit; at = source.indexOf(mark, at + 1)) {
    let slashes = 0;
    while (source[at - 1 - slashes] === "\\") slashes++;
    if (mark.startsWith("\\") || slashes % 2 === 0) return at;
  }
  return -1;
}

function inlineMath(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state;
  const pair = PAIRS.find((candidate) => src.startsWith(candidate.open, pos));
  if (!pair) return false;
  const start = pos + pair.open.length;
  const end = closeOf(src, start, posMax, pair.close);
  if (end < 0 || !isFormula(src, start, end, pair)) return false;
  if (!silent) {
    const token = state.push("math", "", 0);
    token.content = src.slice(start, end);
    token.meta = { display: pair.display };
  }
  state.pos = end + pair.close.length;
  return true;
}

// A formula that begins a line and may run over several.
function blockMath(state: StateBlock, first: number, last: number, silent: boolean): boolean {
  const begin = state.bMarks[first]! + state.tShift[first]!;
  const pair = PAIRS.find((candidate) => candidate.display && state.src.startsWith(candidate.open, begin));
  if (!pair || state.sCount[first]! - state.blkIndent >= 4) return false;
  const start = begin + pair.open.length;
  const end = closeOf(state.src, start, state.eMarks[last - 1]!, pair.close);
  if (end < 0 || !isFormula(state.src, start, end, pair)) return false;
  let line = first;
  while (state.eMarks[line]! < end + pair.close.length) line++;
  // Text behind it: then it is part of a paragraph.
  if (state.src.slice(end + pair.close.length, state.eMarks[line]!).trim() !== "") return false;
  if (/\n\s*\n/.test(state.src.slice(start, end))) return false;
  if (silent) return true;
  const token = state.push("math_block", "", 0);
  token.content = state.src.slice(start, end);
  token.map = [first, line + 1];
  token.block = true;
  state.line = line + 1;
  return true;
}

export function addMath(markdown: MarkdownIt): void {
  const { escapeHtml } = markdown.utils;
  const html = (source: string, display: boolean): string =>
    `<span class="math${display ? " math-display" : ""}" data-testid="math">${escapeHtml(source.trim())}</span>`;
  markdown.inline.ruler.before("escape", "math", inlineMath);
  markdown.block.ruler.before("fence", "math_block", blockMath, {
    alt: ["paragraph", "reference", "blockquote", "list"],
  });
  markdown.renderer.rules["math"] = (tokens, at) => {
    const token = tokens[at]!;
    return html(token.content, (token.meta as { display: boolean }).display);
  };
  markdown.renderer.rules["math_block"] = (tokens, at) => `<p>${html(tokens[at]!.content, true)}</p>`;
}
