// A growing Markdown text as a list of blocks. Only the last one can still change, so each
// step parses from there on and leaves the others, with their keys, as they are.
import type MarkdownIt from "markdown-it";

export interface Block {
  key: number;
  source: string;
  html: string;
}

export class Blocks {
  private text = "";
  private starts: number[] = []; // of each block in the text
  private blocks: Block[] = [];

  constructor(private readonly markdown: MarkdownIt) {}

  set(text: string): Block[] {
    if (text === this.text) return this.blocks;
    const grows = this.blocks.length > 0 && text.startsWith(this.text);
    const kept = grows ? this.blocks.length - 1 : 0;
    const from = grows ? this.starts[kept]! : 0;
    this.starts.length = kept;
    const blocks = this.blocks.slice(0, kept);
    for (const part of this.parse(text.slice(from))) {
      const old = this.blocks[blocks.length];
      const same = old?.source === part.source;
      blocks.push(same ? old : { key: blocks.length, source: part.source, html: part.html() });
      this.starts.push(from + part.start);
    }
    this.text = text;
    this.blocks = blocks;
    return blocks;
  }

  private parse(text: string): { start: number; source: string; html: () => string }[] {
    const lines = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.push(at + 1);
    lines.push(text.length);
    const env = {};
    const tokens = this.markdown.parse(text, env);
    const parts = [];
    for (let first = 0; first < tokens.length; ) {
      let last = first;
      if (tokens[first]!.nesting === 1) {
        do last++;
        while (last < tokens.length - 1 && tokens[last]!.level > 0);
      }
      const [from, to] = tokens[first]!.map ?? [0, 0];
      const group = tokens.slice(first, last + 1);
      const start = lines[from]!;
      const source = text.slice(start, lines[Math.min(to, lines.length - 1)]!).trimEnd();
      parts.push({ start, source, html: () => this.markdown.renderer.render(group, this.markdown.options, env) });
      first = last + 1;
    }
    return parts;
  }
}
