import { expect, test } from "vitest";

import { Blocks } from "./blocks";
import { makeMarkdown } from "./renderer";

const markdown = makeMarkdown();

const TEXT = `# Title

Some *text* with \`code\`, $x^2$ and $5 or $10.

- one
- two

  still two

\`\`\`cpp
int main() {

}
\`\`\`

| a | b |
|--:|---|
| 1 | \\(y\\) |

$$
a + b
$$

> quoted <script>alert(1)</script>

![picture](https://example.org/x.png) [bad](javascript:alert(1))
`;

const html = (text: string): string => new Blocks(markdown).set(text).map((block) => block.html).join("");

test("a text that grows ends like the whole", () => {
  const whole = html(TEXT);
  for (const step of [1, 3, 17]) {
    const blocks = new Blocks(markdown);
    for (let at = step; at < TEXT.length; at += step) blocks.set(TEXT.slice(0, at));
    expect(blocks.set(TEXT).map((block) => block.html).join("")).toBe(whole);
  }
});

test("finished blocks stay the same objects", () => {
  const blocks = new Blocks(markdown);
  const before = blocks.set("one\n\ntwo\n\nthr");
  const after = blocks.set("one\n\ntwo\n\nthree");
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
  expect(after[2]).not.toBe(before[2]);
  expect(after[2]!.key).toBe(before[2]!.key);
});

test("another text begins anew", () => {
  const blocks = new Blocks(markdown);
  blocks.set("one\n\ntwo");
  expect(blocks.set("three").map((block) => block.source)).toEqual(["three"]);
});

test("formulas, but not money", () => {
  expect(html("$x^2$ and \\(y\\)").match(/class="math"/g)).toHaveLength(2);
  expect(html("$$a$$\n\n\\[b\\]").match(/math-display/g)).toHaveLength(2);
  expect(html("It costs $5 and not $10.")).not.toContain("math");
  expect(html("`$x$`")).not.toContain("math");
  expect(html("$$\na\n\n+b")).not.toContain("math");
});

test("no HTML, no pictures, no styles, no scripts as addresses", () => {
  const out = html(TEXT);
  expect(out).not.toMatch(/<script|<img|style=|javascript:alert\(1\)"/);
  expect(out).toContain("&lt;script&gt;");
  expect(out).toContain('class="align-right"');
});
