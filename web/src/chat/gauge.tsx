// How full the context is: the conversation so far, and what is about to be sent.
import { computed, signal } from "@preact/signals";

import type { PrefillReply } from "../api/prefill";
import { totalTokens } from "../api/timings";
import { t } from "../i18n";
import { current } from "../store/library";
import { contextSize } from "../store/server";
import { pathOf } from "../store/tree";

// What the server said when it read the history of the shown conversation, or its draft.
export const historyRead = signal<{ conversation: string; messages: number; reply: PrefillReply } | null>(null);
export const draftRead = signal<PrefillReply | null>(null);
// Of files and long drafts, counted apart.
export const pendingTokens = signal(0);
export const pendingFiles = signal(false);

const historyTokens = computed(() => {
  const path = pathOf(current.value);
  const read = historyRead.value;
  if (read?.conversation === current.value.id && read.messages === path.length) return read.reply.prompt_tokens;
  const timed = path.findLast((message) => message.timings !== undefined);
  return timed?.timings ? totalTokens(timed.timings) : 0;
});

export const usedTokens = computed(() =>
  draftRead.value ? draftRead.value.prompt_tokens : historyTokens.value + pendingTokens.value,
);

// What is to be sent does not leave a single token for an answer: files with what was said
// before, a question alone. Where a question only is too much for what was said before, asking
// offers to forget that.
export const overflow = computed(() => {
  const total = contextSize.value;
  const needed = pendingTokens.value + (pendingFiles.value ? historyTokens.value : 0);
  return total > 0 && needed >= total ? { needed, total } : undefined;
});

// Whether the server would take all of it; what it would refuse is not read ahead.
export const fits = computed(() => {
  const total = contextSize.value;
  return total === 0 || historyTokens.value + pendingTokens.value < total;
});

const RADIUS = 7;
const LENGTH = 2 * Math.PI * RADIUS;

export function ContextGauge() {
  const total = contextSize.value;
  const used = Math.min(usedTokens.value, total || usedTokens.value);
  if (total === 0) return null;
  const share = used / total;
  const label = t("contextGauge", { used, total });
  const level = share > 0.9 ? "full" : share > 0.7 ? "high" : "";
  return (
    <span
      class={`gauge ${level}`}
      role="meter"
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={used}
      aria-label={label}
      title={label}
      data-testid="context-gauge"
      data-used={used}
      data-total={total}
    >
      <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
        <circle class="gauge-all" cx="9" cy="9" r={RADIUS} />
        <circle
          class="gauge-used"
          cx="9"
          cy="9"
          r={RADIUS}
          stroke-dasharray={`${(share * LENGTH).toFixed(2)} ${LENGTH.toFixed(2)}`}
          transform="rotate(-90 9 9)"
        />
      </svg>
      <span class="gauge-text">{Math.round(share * 100)} %</span>
    </span>
  );
}
