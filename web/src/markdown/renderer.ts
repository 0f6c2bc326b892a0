// Markdown as HTML: no raw HTML, no styles, no pictures from elsewhere.
import MarkdownIt from "markdown-it";

import { addMath } from "./math_rules";

export function makeMarkdown(): MarkdownIt {
  const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false });
  // "README.md" is a file, not a site in Moldova.
  markdown.linkify.set({ fuzzyLink: false });
  addMath(markdown);
  const { escapeHtml } = markdown.utils;
  const { rules } = markdown.renderer;
  const code = (source: string, language: string): string =>
    `<div class="code" data-testid="code-block"><pre><code data-language="${escapeHtml(language)}">` +
    `${escapeHtml(source)}</code></pre></div>\n`;
  rules["fence"] = (tokens, at) => code(tokens[at]!.content, /^[\w+#.-]*/.exec(tokens[at]!.info.trim())![0]);
  rules["code_block"] = (tokens, at) => code(tokens[at]!.content, "");
  // A picture would be a request to another host; its address is shown instead.
  rules["image"] = (tokens, at) => {
    const token = tokens[at]!;
    const address = token.attrGet("src") ?? "";
    return `<a href="${escapeHtml(address)}">${escapeHtml(token.content || address)}</a>`;
  };
  for (const cell of ["th_open", "td_open"]) {
    rules[cell] = (tokens, at) => {
      const token = tokens[at]!;
      const align = /text-align:(\w+)/.exec(token.attrGet("style") ?? "")?.[1];
      return align ? `<${token.tag} class="align-${align}">` : `<${token.tag}>`;
    };
  }
  rules["table_open"] = () => '<div class="table"><table>\n';
  rules["table_close"] = () => "</table></div>\n";
  return markdown;
}
