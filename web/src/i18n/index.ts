// The language of the page: the reader's choice, else the browser's.
import { computed } from "@preact/signals";

import { preferences } from "../settings/preferences";
import { en, type Texts } from "./en";
import { fill, type Values } from "./format";
import { zhCN } from "./zh_cn";

export type Lang = "en" | "zh-CN";

const TEXTS: Record<Lang, Texts> = { en, "zh-CN": zhCN };

export function detect(languages: readonly string[]): Lang {
  for (const language of languages) {
    if (/^zh\b/i.test(language)) return "zh-CN";
    if (/^en\b/i.test(language)) return "en";
  }
  return "en";
}

export const lang = computed<Lang>(() => {
  const wanted = preferences.value.language;
  return wanted === "auto" ? detect(navigator.languages) : wanted;
});

const numbers = computed(() => new Intl.NumberFormat(lang.value, { maximumFractionDigits: 1 }));

export const formatNumber = (value: number): string => numbers.value.format(value);

export function t(key: keyof Texts, values: Values = {}): string {
  return fill(TEXTS[lang.value][key], values, formatNumber);
}

export type TextKey = keyof Texts;

const UNITS = ["B", "KB", "MB", "GB"];

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${formatNumber(value >= 100 ? Math.round(value) : value)} ${UNITS[unit]}`;
}

// "3 minutes ago" in few words, for lists.
export function formatAge(ms: number, now = Date.now()): string {
  const relative = new Intl.RelativeTimeFormat(lang.value, { numeric: "auto", style: "short" });
  const seconds = (ms - now) / 1000;
  if (seconds > -60) return t("justNow");
  if (seconds > -3600) return relative.format(Math.round(seconds / 60), "minute");
  if (seconds > -86400) return relative.format(Math.round(seconds / 3600), "hour");
  return relative.format(Math.round(seconds / 86400), "day");
}
