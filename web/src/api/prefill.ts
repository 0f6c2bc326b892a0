// POST /v1/prefill: lets the server read a conversation before its question is asked.
import type { ChatMessage } from "./chat";
import { json } from "./http";

export interface PrefillReply {
  prompt_tokens: number;
  cached_tokens: number;
  complete: boolean;
}

// `typing`: the last message is not finished, and its turn stays open.
export function prefill(
  model: string,
  messages: ChatMessage[],
  cacheId: string,
  typing: boolean,
  signal: AbortSignal,
): Promise<PrefillReply> {
  const body: Record<string, unknown> = { model, messages, cache_id: cacheId };
  if (typing) body["partial"] = true;
  else body["add_generation_prompt"] = false;
  return json("v1/prefill", { body, signal });
}
