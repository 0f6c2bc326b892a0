// Dark or light: the reader's choice, else the system's. Set on the root, where styles look.
import { computed, effect, signal } from "@preact/signals";

import { lang } from "../i18n";
import { preferences } from "../settings/preferences";

const query = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(query.matches);
query.addEventListener("change", () => (systemDark.value = query.matches));

export const theme = computed<"light" | "dark">(() => {
  const wanted = preferences.value.theme;
  return wanted === "auto" ? (systemDark.value ? "dark" : "light") : wanted;
});

export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
    document.documentElement.lang = lang.value;
  });
}
