// The controls beside the conversation. What is empty is the server's default, shown in grey.
import type { ComponentChildren } from "preact";

import { t, type TextKey } from "../i18n";
import { props } from "../store/server";
import { IconButton } from "../ui/icon_button";
import { closePanel, settingsOpen } from "../ui/panels";
import { NUMBER_FIELDS, readControls, type ControlName, type Fault, type NumberField } from "./fields";
import { controls, preferences, type Language, type Theme } from "./preferences";
import { PRESETS, presetOf, withPreset, type Preset } from "./presets";

function sentenceOf(fault: Fault): string {
  switch (fault.kind) {
    case "range":
      return t("faultRange", { min: fault.min, max: fault.max });
    case "whole":
      return t("faultWhole");
    case "number":
      return t("faultNumber");
    case "json":
      return t("faultJson");
  }
}

function set(name: ControlName, value: string): void {
  controls.value = { ...controls.value, [name]: value };
}

function Field({ name, label, children }: { name: ControlName; label: string; children: ComponentChildren }) {
  const fault = readControls(controls.value).faults[name];
  return (
    <div class="field">
      <label for={`setting-${name}`}>{label}</label>
      {children}
      {fault && (
        <p class="fault" role="alert" id={`fault-${name}`} data-testid="setting-error">
          {sentenceOf(fault)}
        </p>
      )}
    </div>
  );
}

function defaultOf(field: NumberField): string {
  const value = props.value?.default_generation_settings.params[field.parameter];
  if (typeof value !== "number") return "";
  if (field.name === "seed") return t("random");
  if (field.name === "max_tokens" && value < 0) return t("unlimited");
  // 0.949999988079071 is what a float makes of 0.95.
  return String(Number(value.toPrecision(6)));
}

function NumberInput({ field }: { field: NumberField }) {
  const faulty = readControls(controls.value).faults[field.name] !== undefined;
  return (
    <Field name={field.name} label={t(field.name)}>
      <input
        id={`setting-${field.name}`}
        type="text"
        inputMode="decimal"
        autocomplete="off"
        placeholder={defaultOf(field)}
        aria-invalid={faulty}
        aria-describedby={faulty ? `fault-${field.name}` : undefined}
        data-testid={`setting-${field.name}`}
        value={controls.value[field.name]}
        onInput={(event) => set(field.name, event.currentTarget.value)}
      />
    </Field>
  );
}

interface TextProps {
  name: "system" | "stop" | "schema";
  label: string;
  hint?: string;
  rows: number;
  code?: boolean;
}

function TextInput({ name, label, hint, rows, code }: TextProps) {
  return (
    <Field name={name} label={label}>
      <textarea
        id={`setting-${name}`}
        class={code ? "code-input" : ""}
        rows={rows}
        spellcheck={!code}
        placeholder={hint}
        data-testid={`setting-${name}`}
        value={controls.value[name]}
        onInput={(event) => set(name, event.currentTarget.value)}
      />
    </Field>
  );
}

const PRESET_NAMES: Record<Preset, TextKey> = {
  default: "presetDefault",
  chat: "presetChat",
  code: "presetCode",
  extraction: "presetExtraction",
  edge: "presetEdge",
};

function Presets() {
  const active = presetOf(controls.value);
  return (
    <div class="presets" role="group" aria-label={t("preset")}>
      {(Object.keys(PRESETS) as Preset[]).map((preset) => (
        <button
          type="button"
          key={preset}
          aria-pressed={active === preset}
          data-testid={`preset-${preset}`}
          onClick={() => (controls.value = withPreset(controls.value, preset))}
        >
          {t(PRESET_NAMES[preset])}
        </button>
      ))}
    </div>
  );
}

function Choice<T extends string>(choice: {
  name: "language" | "theme";
  value: T;
  options: [T, string][];
  onChange: (value: T) => void;
}) {
  return (
    <div class="field inline">
      <label for={`setting-${choice.name}`}>{t(choice.name)}</label>
      <select
        id={`setting-${choice.name}`}
        data-testid={`setting-${choice.name}`}
        value={choice.value}
        onChange={(event) => choice.onChange(event.currentTarget.value as T)}
      >
        {choice.options.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

function PageSettings() {
  const { language, theme, prefill } = preferences.value;
  return (
    <section>
      <h3>{t("page")}</h3>
      <label class="switch">
        <input
          type="checkbox"
          role="switch"
          checked={prefill}
          data-testid="setting-prefill"
          onChange={(event) => (preferences.value = { ...preferences.value, prefill: event.currentTarget.checked })}
        />
        <span>
          {t("prefill")}
          <small>{t("prefillHint")}</small>
        </span>
      </label>
      <Choice<Language>
        name="language"
        value={language}
        options={[
          ["auto", t("automatic")],
          ["en", "English"],
          ["zh-CN", "简体中文"],
        ]}
        onChange={(value) => (preferences.value = { ...preferences.value, language: value })}
      />
      <Choice<Theme>
        name="theme"
        value={theme}
        options={[
          ["auto", t("automatic")],
          ["light", t("light")],
          ["dark", t("dark")],
        ]}
        onChange={(value) => (preferences.value = { ...preferences.value, theme: value })}
      />
    </section>
  );
}

export function Settings() {
  if (!settingsOpen.value) return null;
  const fields = NUMBER_FIELDS.filter((field) => field.name !== "max_tokens");
  const limit = NUMBER_FIELDS.find((field) => field.name === "max_tokens")!;
  return (
    <>
      <div class="shade settings-shade" onClick={() => (settingsOpen.value = false)} />
      <aside class="settings" aria-label={t("settings")} data-testid="settings">
        <div class="settings-head">
          <h2>{t("settings")}</h2>
          <IconButton
            icon="close"
            label={t("closeSettings")}
            testId="settings-close"
            onClick={() => closePanel(settingsOpen)}
          />
        </div>
        <section>
          <h3>{t("answers")}</h3>
          <TextInput name="system" label={t("system")} hint={t("systemHint")} rows={3} />
          <Presets />
        </section>
        <section>
          <h3>{t("sampling")}</h3>
          <div class="fields">
            {fields.map((field) => (
              <NumberInput key={field.name} field={field} />
            ))}
          </div>
          <p class="hint">{t("serverDefault")}</p>
        </section>
        <section>
          <h3>{t("limits")}</h3>
          <div class="fields">
            <NumberInput field={limit} />
          </div>
          <TextInput name="stop" label={t("stopStrings")} rows={2} code />
          <TextInput name="schema" label={t("schema")} hint={t("schemaHint")} rows={4} code />
        </section>
        <PageSettings />
      </aside>
    </>
  );
}
