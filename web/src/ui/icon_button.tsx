// A button that shows an icon and says its name to screen readers and on hovering.
import { Icon, type IconName } from "./icons";

interface Props {
  icon: IconName;
  label: string;
  testId: string;
  onClick: (event: MouseEvent) => void;
  disabled?: boolean;
  pressed?: boolean;
  kind?: string; // a further class
}

export function IconButton({ icon, label, testId, onClick, disabled, pressed, kind = "" }: Props) {
  return (
    <button
      type="button"
      class={`icon-button ${kind}`}
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      disabled={disabled}
      data-testid={testId}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
