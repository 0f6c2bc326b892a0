// A Markdown text that may still grow. Blocks that are finished are never touched again.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { lang } from "../i18n";
import { Blocks, type Block } from "./blocks";
import { finishCode, finishMath, onCopyClick } from "./finish";
import { patchChildren } from "./patch";
import { makeMarkdown } from "./renderer";
import { toNodes } from "./sanitize";

const markdown = makeMarkdown();

function BlockView({ block }: { block: Block }) {
  const root = useRef<HTMLDivElement>(null);
  const language = lang.value;
  useLayoutEffect(() => {
    const node = root.current;
    if (!node) return;
    const nodes = toNodes(block.html);
    finishCode(nodes, node);
    patchChildren(node, nodes);
    finishMath(node);
  }, [block.html, language]);
  return <div class="block" ref={root} />;
}

export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => new Blocks(markdown), []);
  const list = blocks.set(text);
  return (
    <div class="markdown" onClick={onCopyClick}>
      {list.map((block) => (
        <BlockView key={block.key} block={block} />
      ))}
    </div>
  );
}
