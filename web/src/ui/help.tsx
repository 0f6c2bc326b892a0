// The list of keyboard shortcuts.
import { useEffect, useRef } from "preact/hooks";

import { t, type TextKey } from "../i18n";
import { IconButton } from "./icon_button";
import { helpOpen } from "./panels";

const apple = /Mac|iPhone|iPad/.test(navigator.platform);
const command = apple ? "⌘" : "Ctrl";

const SHORTCUTS: [string[], TextKey][] = [
  [["Enter"], "keySend"],
  [["Shift", "Enter"], "keyBreak"],
  [["Esc"], "keyStop"],
  [["↑"], "keyEditLast"],
  [[command, "K"], "keySearch"],
  [[command, "Shift", "O"], "keyNew"],
  [[command, "Shift", "S"], "keySidebar"],
  [[command, ","], "keySettings"],
  [[command, "/"], "keyHelp"],
];

function Dialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      class="dialog"
      data-testid="help"
      aria-labelledby="help-title"
      ref={dialog}
      onClose={() => (helpOpen.value = false)}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog-head">
        <h2 id="help-title">{t("help")}</h2>
        <IconButton icon="close" label={t("close")} testId="help-close" onClick={() => dialog.current?.close()} />
      </div>
      <dl class="shortcuts">
        {SHORTCUTS.map(([keys, text]) => (
          <div key={text}>
            <dt>{t(text)}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}

export function Help() {
  return helpOpen.value ? <Dialog /> : null;
}
