// A menu below its button. Arrow keys move, Escape and a click elsewhere close it.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { Icon, type IconName } from "./icons";

export interface MenuItem {
  icon: IconName;
  label: string;
  testId: string;
  act: () => void;
}

function Items({ items, button, close }: { items: MenuItem[]; button: HTMLElement; close: () => void }) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = list.current!;
    const place = button.getBoundingClientRect();
    const below = place.bottom + node.offsetHeight < innerHeight;
    node.style.top = `${below ? place.bottom + 4 : place.top - node.offsetHeight - 4}px`;
    node.style.left = `${Math.max(8, Math.min(place.left, innerWidth - node.offsetWidth - 8))}px`;
    node.querySelector("button")?.focus();
    const outside = (event: Event): void => {
      if (!node.contains(event.target as Node) && !button.contains(event.target as Node)) close();
    };
    addEventListener("pointerdown", outside, true);
    addEventListener("scroll", close, true);
    return () => {
      removeEventListener("pointerdown", outside, true);
      removeEventListener("scroll", close, true);
    };
  }, []);

  const onKeyDown = (event: KeyboardEvent): void => {
    const buttons = [...list.current!.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) buttons[(at + step + buttons.length) % buttons.length]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return;
    event.stopPropagation();
    if (event.key !== "Tab") event.preventDefault();
    if (event.key === "Escape") button.focus();
  };

  return (
    <div class="menu" role="menu" ref={list} onKeyDown={onKeyDown}>
      {items.map((item) => (
        <button
          type="button"
          role="menuitem"
          key={item.testId}
          data-testid={item.testId}
          onClick={() => {
            close();
            item.act();
          }}
        >
          <Icon name={item.icon} size={16} />
          {item.label}
        </button>
      ))}
    </div>
  );
}

export function Menu({ label, testId, items }: { label: string; testId: string; items: MenuItem[] }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        type="button"
        class="icon-button menu-button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        data-testid={testId}
        ref={button}
        onClick={() => setOpen(!open)}
      >
        <Icon name="more" />
      </button>
      {open && button.current && <Items items={items} button={button.current} close={() => setOpen(false)} />}
    </>
  );
}
