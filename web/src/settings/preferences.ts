// Preferences of the reader, and the controls of the model. Both live in this browser.
import { persisted } from "../store/persist";
import { EMPTY_CONTROLS } from "./fields";

export type Language = "auto" | "en" | "zh-CN";
export type Theme = "auto" | "light" | "dark";

export const preferences = persisted("vivace.preferences", {
  language: "auto" as Language,
  theme: "auto" as Theme,
  prefill: true, // read along while typing
  model: "",
});

export const controls = persisted("vivace.controls", EMPTY_CONTROLS);
