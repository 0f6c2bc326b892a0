// What is asked of the view of a conversation from elsewhere on the page.
import { signal } from "@preact/signals";

// Grows when the end is to be shown, as after sending.
export const toEnd = signal(0);

// Words that were searched for: the first message with them is shown.
export const wanted = signal<{ conversation: string; words: string } | null>(null);

// The question that is being edited, kept here so that scrolling loses nothing.
export const editing = signal<{ id: string; text: string } | null>(null);
