// A short message at the top, perhaps with something to do about it. One at a time.
import { signal } from "@preact/signals";

import { t } from "../i18n";

interface Toast {
  text: string;
  undo?: () => void;
}

const SHOWN_MS = 8000;
const toast = signal<Toast | null>(null);
let timer = 0;

export function showToast(text: string, undo?: () => void): void {
  clearTimeout(timer);
  toast.value = undo ? { text, undo } : { text };
  timer = window.setTimeout(() => (toast.value = null), SHOWN_MS);
}

export function ToastView() {
  const shown = toast.value;
  return (
    <div class="toast-place" role="status">
      {shown && (
        <div class="toast" data-testid="toast">
          <span>{shown.text}</span>
          {shown.undo && (
            <button
              type="button"
              class="text-button"
              data-testid="toast-undo"
              onClick={() => {
                shown.undo?.();
                toast.value = null;
              }}
            >
              {t("undo")}
            </button>
          )}
        </div>
      )}
    </div>
  );
}
