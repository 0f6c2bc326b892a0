// The messages that are shown, as a list of which only the visible part is in the document.
// It stays at the newest message until the reader scrolls up.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";

import { t } from "../i18n";
import { messageWith } from "../store/backend";
import { update } from "../store/library";
import { pathOf, showing } from "../store/tree";
import type { Conversation } from "../store/types";
import { Icon } from "../ui/icons";
import { Heights } from "./heights";
import { MessageView } from "./message";
import { toEnd, wanted } from "./view";

const NEAR_END = 48; // pixels that still count as being at the end
const ABOVE_FOUND = 60; // pixels above a message that was searched for

class Scroller {
  stuck = true;
  scrollTop = 0;
  viewHeight = 800;
  private moveTo: number | undefined;
  ids: string[] = [];
  readonly heights = new Heights();
  readonly rows = new Map<Element, string>();
  readonly observer: ResizeObserver;

  constructor(
    private readonly node: () => HTMLElement | null,
    private readonly redraw: () => void,
  ) {
    this.observer = new ResizeObserver((entries) => this.onResize(entries));
  }

  window() {
    const top = this.stuck ? Infinity : this.scrollTop;
    const most = Math.max(0, this.heights.total(this.ids) - this.viewHeight);
    return this.heights.window(this.ids, Math.min(top, most), this.viewHeight);
  }

  // Keeps what is read where it is, whatever becomes taller above it.
  private onResize(entries: ResizeObserverEntry[]): void {
    const node = this.node();
    if (!node) return;
    let moved = 0;
    let redraw = false;
    for (const entry of entries) {
      const id = this.rows.get(entry.target);
      if (id === undefined) {
        redraw ||= this.viewHeight !== node.clientHeight;
        this.viewHeight = node.clientHeight;
        continue;
      }
      const height = (entry.target as HTMLElement).offsetHeight;
      if (height === 0) continue; // left the document
      const end = this.heights.topOf(this.ids, id) + this.heights.of(id);
      const grown = this.heights.set(id, height);
      if (end <= this.scrollTop + 1) moved += grown;
      redraw ||= grown !== 0;
    }
    if (redraw) this.redraw();
    if (this.stuck) this.toEnd();
    else if (moved !== 0) node.scrollTop += moved;
  }

  toEnd(): void {
    const node = this.node();
    if (!node) return;
    node.scrollTop = node.scrollHeight;
    this.scrollTop = node.scrollTop;
  }

  // Puts a message at the top of the window.
  show(id: string): void {
    this.stuck = false;
    this.scrollTop = Math.max(0, this.heights.topOf(this.ids, id) - ABOVE_FOUND);
    this.moveTo = this.scrollTop;
    this.redraw();
  }

  // After the messages around the place are in the document.
  settle(): void {
    const node = this.node();
    if (this.stuck) this.toEnd();
    else if (node && this.moveTo !== undefined) node.scrollTop = this.moveTo;
    this.moveTo = undefined;
  }

  onScroll(): void {
    const node = this.node();
    if (!node) return;
    const up = node.scrollTop < this.scrollTop - 1;
    const atEnd = node.scrollHeight - node.scrollTop - node.clientHeight < NEAR_END;
    this.scrollTop = node.scrollTop;
    // Only the reader scrolls up; new text below never ends the following.
    if (atEnd) this.stuck = true;
    else if (up) this.stuck = false;
    this.redraw();
  }
}

interface RowProps {
  id: string;
  scroller: Scroller;
  found: boolean;
  children: ComponentChildren;
}

function Row({ id, scroller, found, children }: RowProps) {
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = row.current!;
    scroller.rows.set(node, id);
    scroller.observer.observe(node);
    return () => {
      scroller.observer.unobserve(node);
      scroller.rows.delete(node);
    };
  }, [id]);
  return (
    <div class={found ? "row found" : "row"} ref={row}>
      {children}
    </div>
  );
}

// The message that was searched for, once its version is shown.
function useFound(conversation: Conversation): string | undefined {
  const search = wanted.value?.conversation === conversation.id ? wanted.value : null;
  const meant = useMemo(() => search && messageWith(conversation, search.words), [conversation, search]);
  useLayoutEffect(() => {
    // Once: afterwards the reader chooses.
    if (meant) update(conversation.id, (now) => showing(now, meant));
  }, [conversation.id, search]);
  return pathOf(conversation).find((message) => message.id === meant?.id)?.id;
}

export function Thread({ conversation }: { conversation: Conversation }) {
  const root = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const scroller = useMemo(() => new Scroller(() => root.current, () => redraw()), [conversation.id]);
  const path = pathOf(conversation);
  scroller.ids = path.map((message) => message.id);
  const asked = toEnd.value;

  useLayoutEffect(() => {
    scroller.observer.observe(root.current!);
    return () => scroller.observer.disconnect();
  }, [scroller]);
  useLayoutEffect(() => {
    scroller.stuck = true;
    redraw();
  }, [scroller, asked]);
  const found = useFound(conversation);
  useLayoutEffect(() => {
    if (found) scroller.show(found);
  }, [scroller, found]);
  useLayoutEffect(() => scroller.settle());

  const { first, last, above, below } = scroller.window();
  return (
    <div class="thread-frame">
      <div
        class="thread"
        role="feed"
        aria-label={t("thread")}
        tabIndex={0}
        data-testid="thread"
        data-count={path.length}
        ref={root}
        onScroll={() => scroller.onScroll()}
      >
        <div class="gap" role="presentation" style={{ height: above }} />
        {path.slice(first, last).map((message, i) => (
          <Row key={message.id} id={message.id} scroller={scroller} found={message.id === found}>
            <MessageView
              conversation={conversation}
              message={message}
              position={first + i + 1}
              count={path.length}
            />
          </Row>
        ))}
        <div class="gap" role="presentation" style={{ height: below }} />
      </div>
      {!scroller.stuck && (
        <button
          type="button"
          class="jump"
          data-testid="jump-newest"
          aria-label={t("jumpNewest")}
          title={t("jumpNewest")}
          onClick={() => {
            scroller.stuck = true;
            redraw();
          }}
        >
          <Icon name="down" />
        </button>
      )}
    </div>
  );
}
