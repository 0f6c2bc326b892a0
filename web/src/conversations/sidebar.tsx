// The list of conversations, newest first, with search above and files below.
import { effect, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";

import { isAnswering } from "../chat/answers";
import { wanted } from "../chat/view";
import { formatAge, t } from "../i18n";
import { goTo, route } from "../route";
import { place, rename, search, summaries, unsaved } from "../store/library";
import type { Summary } from "../store/types";
import { IconButton } from "../ui/icon_button";
import { Icon } from "../ui/icons";
import { Menu, type MenuItem } from "../ui/menu";
import { closePanel, helpOpen, sidebarOpen } from "../ui/panels";
import { deleteConversation, exportAll, exportJson, exportMarkdown, importFile } from "./actions";

const words = signal("");
const found = signal<Summary[] | null>(null); // null: no search

const SEARCH_AFTER_MS = 150;
let timer = 0;

effect(() => {
  const text = words.value.trim();
  clearTimeout(timer);
  if (!text) {
    found.value = null;
    return;
  }
  timer = window.setTimeout(() => {
    void search(text).then((list) => {
      if (words.value.trim() === text) found.value = list;
    });
  }, SEARCH_AFTER_MS);
});

function RenameInput({ entry, end }: { entry: Summary; end: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const ended = useRef(false);
  useEffect(() => input.current?.select(), []);
  const finish = (keep: boolean): void => {
    if (ended.current) return;
    ended.current = true;
    const title = input.current?.value.trim();
    if (keep && title && title !== entry.title) void rename(entry.id, title);
    end();
  };
  return (
    <input
      ref={input}
      class="rename"
      aria-label={t("rename")}
      data-testid="rename-input"
      defaultValue={entry.title}
      maxLength={200}
      onBlur={() => finish(true)}
      onKeyDown={(event) => {
        if (event.isComposing) return;
        if (event.key === "Enter") finish(true);
        if (event.key === "Escape") {
          event.stopPropagation();
          finish(false);
        }
      }}
    />
  );
}

function Entry({ entry }: { entry: Summary }) {
  const [renaming, setRenaming] = useState(false);
  const title = entry.title || t("untitled");
  const shown = route.value.page === "chat" && route.value.id === entry.id;
  const items: MenuItem[] = [
    { icon: "edit", label: t("rename"), testId: "menu-rename", act: () => setRenaming(true) },
    { icon: "download", label: t("exportMarkdown"), testId: "menu-export-markdown", act: () => void exportMarkdown(entry.id) },
    { icon: "download", label: t("exportJson"), testId: "menu-export-json", act: () => void exportJson(entry.id) },
    { icon: "trash", label: t("delete"), testId: "menu-delete", act: () => void deleteConversation(entry.id) },
  ];
  return (
    <li
      class={`entry ${shown ? "shown" : ""}`}
      data-testid="conversation"
      data-id={entry.id}
      aria-current={shown ? "page" : undefined}
    >
      {renaming ? (
        <RenameInput entry={entry} end={() => setRenaming(false)} />
      ) : (
        <>
          <a
            href={`#/c/${entry.id}`}
            title={title}
            data-testid="conversation-title"
            onClick={() => {
              sidebarOpen.value = false;
              wanted.value = words.value.trim() ? { conversation: entry.id, words: words.value } : null;
            }}
          >
            <span class="entry-title">{title}</span>
            {isAnswering(entry.id) ? (
              <span class="entry-dot" role="img" aria-label={t("writing")} />
            ) : (
              <span class="entry-age">{formatAge(entry.updatedMs)}</span>
            )}
          </a>
          <Menu label={t("more", { title })} testId="conversation-menu" items={items} />
        </>
      )}
    </li>
  );
}

function List() {
  const list = found.value ?? summaries.value;
  if (list.length === 0) return <p class="empty">{t(found.value ? "nothingFound" : "noConversations")}</p>;
  return (
    <ul class="entries">
      {list.map((entry) => (
        <Entry key={entry.id} entry={entry} />
      ))}
    </ul>
  );
}

function SearchField() {
  return (
    <label class="search">
      <Icon name="search" size={16} />
      <input
        type="search"
        placeholder={t("search")}
        aria-label={t("searchHint")}
        data-testid="search"
        value={words.value}
        onInput={(event) => (words.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && words.value) {
            event.stopPropagation();
            words.value = "";
          }
        }}
      />
    </label>
  );
}

const KEPT = { browser: "keptBrowser", server: "keptServer", memory: "keptMemory" } as const;

function Foot() {
  const file = useRef<HTMLInputElement>(null);
  return (
    <div class="sidebar-foot">
      <p class="hint" role={unsaved.value ? "alert" : undefined}>
        {unsaved.value ? t("notSaved", { message: unsaved.value }) : t(KEPT[place.value])}
      </p>
      <div class="sidebar-tools">
        <IconButton icon="download" label={t("exportAll")} testId="export-all" onClick={() => void exportAll()} />
        <IconButton icon="upload" label={t("import")} testId="import" onClick={() => file.current?.click()} />
        <input
          ref={file}
          type="file"
          accept=".json,application/json"
          hidden
          aria-label={t("import")}
          data-testid="import-file"
          onChange={(event) => {
            const chosen = event.currentTarget.files?.[0];
            if (chosen) void importFile(chosen);
            event.currentTarget.value = "";
          }}
        />
        <span class="grow" />
        <a
          class="icon-button"
          href="#/metrics"
          aria-label={t("metrics")}
          title={t("metrics")}
          data-testid="open-metrics"
          onClick={() => (sidebarOpen.value = false)}
        >
          <Icon name="chart" />
        </a>
        <IconButton icon="help" label={t("help")} testId="open-help" onClick={() => (helpOpen.value = true)} />
      </div>
    </div>
  );
}

export function Sidebar() {
  return (
    <>
      {sidebarOpen.value && <div class="shade" onClick={() => (sidebarOpen.value = false)} />}
      <nav class={`sidebar ${sidebarOpen.value ? "open" : ""}`} aria-label={t("conversations")} data-testid="sidebar">
        <div class="sidebar-head">
          <span class="brand">vivace</span>
          <IconButton
            icon="close"
            label={t("closeSidebar")}
            testId="sidebar-close"
            kind="narrow-only"
            onClick={() => closePanel(sidebarOpen)}
          />
        </div>
        <button
          type="button"
          class="new-chat"
          data-testid="new-chat"
          onClick={() => {
            sidebarOpen.value = false;
            goTo("#/");
          }}
        >
          <Icon name="plus" />
          {t("newChat")}
        </button>
        <SearchField />
        <List />
        <Foot />
      </nav>
    </>
  );
}
