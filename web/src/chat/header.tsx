// Above the conversation: the model that answers, how full its context is, the settings.
import { useEffect, useState } from "preact/hooks";

import { t } from "../i18n";
import { chooseModel, loading, model, models } from "../store/server";
import { IconButton } from "../ui/icon_button";
import { closePanel, openPanel, settingsOpen, sidebarOpen } from "../ui/panels";
import { ContextGauge } from "./gauge";

function Loading() {
  const state = loading.value;
  const [, tick] = useState(0);
  const waits = state !== null && state.error === undefined;
  useEffect(() => {
    if (!waits) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, [waits]);
  if (!state) return null;
  const s = Math.floor((performance.now() - state.sinceMs) / 1000);
  const percent = state.share === undefined ? undefined : Math.floor(100 * state.share);
  let text = t("modelLoading", { model: state.model, s });
  if (percent !== undefined) text = t("modelPreparing", { model: state.model, percent, s });
  if (state.error !== undefined) text = t("modelFailed", { model: state.model, message: state.error });
  return (
    <div
      class={`loading-bar ${waits ? "" : "failed"}`}
      role="status"
      data-testid="model-loading"
      data-percent={waits ? percent : undefined}
    >
      {waits && percent === undefined && <span class="loading-stripe" aria-hidden="true" />}
      {waits && percent !== undefined && <progress class="loading-share" max={100} value={percent} aria-label={text} />}
      <span>{text}</span>
    </div>
  );
}

function ModelChoice() {
  if (models.value.length === 0) return <span class="grow" />;
  return (
    <select
      class="model"
      aria-label={t("model")}
      title={t("model")}
      data-testid="model"
      value={model.value}
      onChange={(event) => void chooseModel(event.currentTarget.value)}
    >
      {models.value.map((entry) => (
        <option key={entry.id} value={entry.id}>
          {entry.id}
        </option>
      ))}
    </select>
  );
}

export function Header() {
  return (
    <>
      <header class="header">
        <IconButton
          icon="menu"
          label={t("openSidebar")}
          testId="sidebar-open"
          kind="narrow-only"
          onClick={() => openPanel(sidebarOpen)}
        />
        <ModelChoice />
        <span class="grow" />
        <ContextGauge />
        <IconButton
          icon="sliders"
          label={t("settings")}
          testId="open-settings"
          pressed={settingsOpen.value}
          onClick={() => (settingsOpen.value ? closePanel(settingsOpen) : openPanel(settingsOpen))}
        />
      </header>
      <Loading />
    </>
  );
}
