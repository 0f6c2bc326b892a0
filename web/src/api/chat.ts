// A streamed answer: begun from a conversation, or continued where an earlier one ended.
import { ApiError, errorOf, factsOf, isAbort } from "./errors";
import { send } from "./http";
import { readEvents } from "./sse";
import type { Timings } from "./timings";

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

// The controls that are not the server's defaults.
export interface Sampling {
  temperature?: number;
  top_p?: number;
  top_k?: number;
  min_p?: number;
  repeat_penalty?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  max_tokens?: number;
  seed?: number;
  stop?: string[];
}

export interface ChatCall {
  model: string;
  messages: ChatMessage[];
  sampling: Sampling;
  cacheId: string;
  schema?: unknown; // the answer's JSON schema
  goesOn?: boolean; // the last message is the answer so far
}

export type Finish = "stop" | "length";

export interface ChatPart {
  text?: string;
  timings?: Timings;
  progress?: { total: number; cache: number; processed: number };
  finish?: Finish;
}

// Events of at most 16 tokens, and not more than 20 a second: what the page paints at once.
const STREAM = { stream: true, stream_chunk: { tokens: 16, ms: 50 } };

export function chatBody(call: ChatCall): Record<string, unknown> {
  const body: Record<string, unknown> = {
    model: call.model,
    cache_id: call.cacheId,
    ...STREAM,
    ...call.sampling,
    messages: call.messages,
    timings_per_token: true,
    return_progress: true,
  };
  if (call.goesOn) {
    // A schema binds an answer from its beginning on, so that none can go with this.
    return { ...body, add_generation_prompt: false, continue_final_message: true };
  }
  if (call.schema !== undefined) {
    body["response_format"] = { type: "json_schema", json_schema: { name: "answer", schema: call.schema, strict: true } };
  }
  return body;
}

interface ChatChunk {
  choices?: { delta?: { content?: string | null }; finish_reason?: string | null }[];
  timings?: Timings;
  prompt_progress?: { total: number; cache: number; processed: number };
  error?: unknown;
}

export function chatPart(chunk: ChatChunk): ChatPart {
  const part: ChatPart = {};
  const choice = chunk.choices?.[0];
  if (choice?.delta?.content) part.text = choice.delta.content;
  if (chunk.timings) part.timings = chunk.timings;
  if (chunk.prompt_progress) part.progress = chunk.prompt_progress;
  if (choice?.finish_reason) part.finish = choice.finish_reason === "length" ? "length" : "stop";
  return part;
}

// An error that came after the first byte has its status only in its body. A server that
// leaves in mid-answer says 503; for the reader it is gone.
function streamError(error: unknown): ApiError {
  const { facts } = errorOf(500, { error });
  return new ApiError(facts.kind === "busy" ? { ...facts, kind: "gone" } : facts);
}

export async function* streamChat(call: ChatCall, signal: AbortSignal): AsyncGenerator<ChatPart> {
  const response = await send("v1/chat/completions", { body: chatBody(call), signal });
  let finished = false;
  try {
    for await (const event of readEvents(response)) {
      if (event.data === "[DONE]") continue;
      const chunk = JSON.parse(event.data) as ChatChunk;
      if (chunk.error !== undefined) throw streamError(chunk.error);
      const part = chatPart(chunk);
      if (part.finish) finished = true;
      yield part;
    }
  } catch (error) {
    if (isAbort(error) || error instanceof ApiError) throw error;
    throw new ApiError(factsOf(error));
  }
  if (!finished) throw new ApiError({ kind: "gone", message: "the stream ended early" });
}
