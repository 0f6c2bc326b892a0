// One message: what was asked or answered, and what can be done with it.
import { useEffect, useRef, useState } from "preact/hooks";

import { formatBytes, t } from "../i18n";
import { copyText } from "../markdown/finish";
import { Markdown } from "../markdown/markdown";
import { controls } from "../settings/preferences";
import { update } from "../store/library";
import { chosenSibling, siblingsOf } from "../store/tree";
import type { Conversation, Message, MessageState } from "../store/types";
import { IconButton } from "../ui/icon_button";
import { Icon } from "../ui/icons";
import { focusOn } from "../ui/panels";
import { answerIn, answers, continueAnswer, editAndAsk, regenerate, type Answer } from "./answers";
import { ErrorCard } from "./error_card";
import { contentOf } from "./prompt";
import { RunningSpeed, TimingLine } from "./timing";
import { editing } from "./view";

interface Props {
  conversation: Conversation;
  message: Message;
}

type AnswerProps = Props & { answer: Answer | undefined; state: MessageState };

function Siblings({ conversation, message }: Props) {
  const siblings = siblingsOf(conversation, message);
  if (siblings.length < 2) return null;
  const at = siblings.findIndex((sibling) => sibling.id === message.id);
  const go = (step: number): void => update(conversation.id, (whole) => chosenSibling(whole, message, step));
  const busy = answerIn(conversation) !== undefined;
  return (
    <span class="siblings">
      <IconButton
        icon="left"
        label={t("previousVersion")}
        testId="sibling-previous"
        disabled={busy || at === 0}
        onClick={() => go(-1)}
      />
      <span data-testid="sibling-count">
        {at + 1} / {siblings.length}
      </span>
      <IconButton
        icon="right"
        label={t("nextVersion")}
        testId="sibling-next"
        disabled={busy || at === siblings.length - 1}
        onClick={() => go(1)}
      />
    </span>
  );
}

function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <IconButton
      icon={copied ? "check" : "copy"}
      label={t(copied ? "copied" : "copy")}
      testId="message-copy"
      onClick={() => {
        void copyText(text).then((done) => {
          setCopied(done);
          setTimeout(() => setCopied(false), 1500);
        });
      }}
    />
  );
}

function EditForm({ conversation, message, text }: Props & { text: string }) {
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => input.current?.focus(), []);
  const end = (): void => {
    editing.value = null;
    focusOn("composer-input");
  };
  const send = (): void => {
    if (!text.trim()) return;
    editAndAsk(conversation.id, message, text.trim());
    end();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      end();
    }
  };
  return (
    <div class="edit">
      <textarea
        ref={input}
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        aria-label={t("editLabel")}
        data-testid="message-edit-input"
        value={text}
        onInput={(event) => (editing.value = { id: message.id, text: event.currentTarget.value })}
        onKeyDown={onKeyDown}
      />
      <div class="actions">
        <button type="button" class="button" data-testid="message-edit-cancel" onClick={end}>
          {t("cancel")}
        </button>
        <button type="button" class="button primary" data-testid="message-edit-send" onClick={send}>
          {t("saveAndSend")}
        </button>
      </div>
    </div>
  );
}

function Question({ conversation, message }: Props) {
  const edited = editing.value?.id === message.id ? editing.value.text : undefined;
  if (edited !== undefined) return <EditForm conversation={conversation} message={message} text={edited} />;
  return (
    <>
      {message.attachments?.length ? (
        <div class="chips">
          {message.attachments.map((file) => (
            <details class="chip-file" key={file.name} data-testid="attachment" data-name={file.name}>
              <summary>
                <Icon name="file" size={15} />
                <span class="chip-name">{file.name}</span>
                <span class="hint">
                  {file.tokens === undefined ? formatBytes(file.size) : t("tokens", { n: file.tokens })}
                </span>
              </summary>
              <pre tabIndex={0}>{file.text}</pre>
            </details>
          ))}
        </div>
      ) : null}
      {message.text !== "" && (
        <div class="bubble" data-testid="message-text">
          {message.text}
        </div>
      )}
      <div class="message-foot">
        <Siblings conversation={conversation} message={message} />
        <CopyButton text={contentOf(message.text, message.attachments)} />
        <IconButton
          icon="edit"
          label={t("edit")}
          testId="message-edit"
          disabled={answerIn(conversation) !== undefined}
          onClick={() => (editing.value = { id: message.id, text: message.text })}
        />
      </div>
    </>
  );
}

function Waiting({ answer }: { answer: Answer }) {
  const progress = answer.progress.value;
  const text = progress
    ? t("readingTokens", { done: progress.done, total: progress.total })
    : t("waiting");
  return (
    <div class="waiting">
      <span class="dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      <span class="hint">{text}</span>
    </div>
  );
}

function AnswerFoot({ conversation, message }: Props) {
  const canContinue = message.text !== "" && message.error === undefined && controls.value.schema.trim() === "";
  const note = message.state === "length" ? "lengthNote" : message.state === "done" ? undefined : "stoppedNote";
  const busy = answerIn(conversation) !== undefined;
  return (
    <>
      {note && !message.error && <p class="note">{t(note)}</p>}
      <div class="message-foot">
        <Siblings conversation={conversation} message={message} />
        {message.text !== "" && <CopyButton text={message.text} />}
        <IconButton
          icon="again"
          label={t("regenerate")}
          testId="message-regenerate"
          disabled={busy}
          onClick={() => regenerate(conversation.id, message)}
        />
        {canContinue && (
          <IconButton
            icon="forward"
            label={t("continue")}
            testId="message-continue"
            disabled={busy}
            onClick={() => continueAnswer(conversation.id, message)}
          />
        )}
      </div>
      {message.timings && <TimingLine timings={message.timings} rates={message.rates ?? []} />}
    </>
  );
}

function Below({ conversation, message, answer, state }: AnswerProps) {
  if (answer) return answer.text.value === "" ? <Waiting answer={answer} /> : <RunningSpeed rates={answer.rates.value} />;
  if (state === "running") return <RunningSpeed rates={[]} />;
  return (
    <>
      <ErrorCard conversation={conversation} message={message} />
      <AnswerFoot conversation={conversation} message={message} />
    </>
  );
}

// The text is the same element while it is written and after, so nothing is drawn again.
function AnswerText({ conversation, message, answer, state }: AnswerProps) {
  const text = answer ? answer.text.value : message.text;
  return (
    <>
      {text !== "" && (
        <div data-testid="message-text">
          <Markdown text={text} />
        </div>
      )}
      <Below conversation={conversation} message={message} answer={answer} state={state} />
    </>
  );
}

export function MessageView({ conversation, message, position, count }: Props & { position: number; count: number }) {
  const answer = answers.value.get(message.id);
  // One that was running when its page was left. The last one goes on, here or in another tab;
  // others stay as they are.
  const left = message.state === "running" && !answer && position < count;
  const state = answer ? "running" : left ? "stopped" : message.state;
  return (
    <article
      class={`message ${message.role}`}
      aria-label={t(message.role === "user" ? "you" : "assistant")}
      aria-posinset={position}
      aria-setsize={count}
      aria-busy={state === "running"}
      data-testid="message"
      data-id={message.id}
      data-role={message.role}
      data-state={state}
      data-ttft-ms={message.pageTtftMs}
      data-server-ttft-ms={message.timings?.first_token_ms}
    >
      {message.role === "user" ? (
        <Question conversation={conversation} message={message} />
      ) : (
        <AnswerText conversation={conversation} message={message} answer={answer} state={state} />
      )}
    </article>
  );
}
