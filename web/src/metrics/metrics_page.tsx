// What the server does right now: times, queue, cache, memory, and how near it is to the
// limit of its hardware.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import { formatBytes, formatNumber, t } from "../i18n";
import { current } from "../store/library";
import { Icon } from "../ui/icons";
import { Distribution } from "./plot";
import { caches, counted, histogram, now, perSecond, slots, startPolling, type Range } from "./poll";

const range = signal<Range>("start");

function Tile({ name, title, value, hint }: { name: string; title: string; value: string; hint?: ComponentChildren }) {
  return (
    <div class="card tile" data-testid={`metric-${name}`}>
      <h2>{title}</h2>
      <p class={/\d|–/.test(value) ? "tile-value" : "tile-value words"}>{value}</p>
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
}

const count = (value: number | undefined): string => (value === undefined ? "–" : formatNumber(value));

function CacheTile() {
  const read = counted("llamacpp:prompt_tokens_total", range.value);
  const cached = counted("llamacpp:prompt_tokens_cached_total", range.value);
  const all = (read ?? 0) + (cached ?? 0);
  const share = cached !== undefined && all > 0 ? `${formatNumber((100 * cached) / all)} %` : "–";
  const used = caches.value.reduce((sum, cache) => sum + cache.pages_in_use + cache.pages_cached, 0);
  const total = caches.value.reduce((sum, cache) => sum + cache.pages, 0);
  return <Tile name="cache-hit" title={t("cacheHit")} value={share} hint={t("cacheMemory", { used, total })} />;
}

function LimitTile() {
  const limit = now("vivace_read_limit_bytes_per_second");
  const used = now("vivace_read_bytes_per_second");
  if (!limit || used === undefined) return <Tile name="limit" title={t("limit")} value={t("notMeasured")} />;
  const hint = t("limitHint", { used: formatBytes(used), total: formatBytes(limit) });
  return <Tile name="limit" title={t("limit")} value={`${formatNumber(Math.round((100 * used) / limit))} %`} hint={hint} />;
}

function Tiles() {
  const memory = now("process_resident_memory_bytes");
  const written = perSecond("vivace_engine_tokens_generated_total");
  const read = perSecond("vivace_engine_prompt_tokens_total");
  return (
    <div class="tiles">
      <Tile name="running" title={t("running")} value={count(now("llamacpp:requests_processing"))} />
      <Tile name="waiting" title={t("waitingRequests")} value={count(now("llamacpp:requests_deferred"))} />
      <Tile
        name="speed"
        title={t("speedNow")}
        value={written === undefined ? "–" : formatNumber(written)}
        hint={t("readSpeedNow", { n: read ?? 0 })}
      />
      <CacheTile />
      <Tile name="memory" title={t("memory")} value={memory === undefined ? t("notMeasured") : formatBytes(memory)} />
      <LimitTile />
    </div>
  );
}

function Slots() {
  return (
    <section class="card">
      <h2>{t("slots")}</h2>
      <ul class="slots">
        {slots.value.map((slot) => (
          <li key={slot.id} class={slot.is_processing ? "busy" : ""} data-testid="slot">
            <span class="slot-id">{slot.id}</span>
            <span>
              {slot.is_processing
                ? t("slotBusy", {
                    prompt: (slot.n_prompt_tokens_processed ?? 0) + (slot.n_prompt_tokens_cache ?? 0),
                    written: slot.next_token?.[0]?.n_decoded ?? 0,
                  })
                : t("slotIdle")}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Kept() {
  const kept = caches.value.flatMap((cache) => cache.conversations);
  if (kept.length === 0) return null;
  return (
    <section class="card">
      <h2>{t("kept")}</h2>
      <ul class="kept">
        {kept.slice(0, 20).map((conversation) => (
          <li key={conversation.cache_id}>
            <span class="kept-id">{conversation.cache_id}</span>
            <span>{t("tokens", { n: conversation.tokens })}</span>
            <span>{formatBytes(conversation.bytes)}</span>
            <span class="hint">{t("idleSince", { s: Math.round(conversation.idle_ms / 1000) })}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function RangeChoice() {
  const options: [Range, string][] = [
    ["start", t("sinceStart")],
    ["minute", t("lastMinute")],
  ];
  return (
    <div class="presets" role="group" aria-label={t("range")}>
      {options.map(([value, label]) => (
        <button
          type="button"
          key={value}
          aria-pressed={range.value === value}
          data-testid={`range-${value}`}
          onClick={() => (range.value = value)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

function backTo(): string {
  const { id, messages } = current.value;
  return Object.keys(messages).length > 0 ? `#/c/${id}` : "#/";
}

export function MetricsPage() {
  useEffect(startPolling, []);
  return (
    <main class="metrics" id="main" tabIndex={-1} data-testid="metrics">
      <header class="metrics-head">
        <a class="icon-button" href={backTo()} aria-label={t("backToChat")} title={t("backToChat")} data-testid="metrics-back">
          <Icon name="left" />
        </a>
        <h1>{t("metricsTitle")}</h1>
        <span class="grow" />
        <RangeChoice />
      </header>
      <Tiles />
      <div class="plots">
        <Distribution title={t("ttft")} testId="plot-ttft" buckets={histogram("vivace_ttft_seconds", range.value)} />
        <Distribution title={t("itl")} testId="plot-itl" buckets={histogram("vivace_itl_seconds", range.value)} />
      </div>
      <Slots />
      <Kept />
    </main>
  );
}
