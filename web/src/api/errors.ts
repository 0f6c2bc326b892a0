// ApiError: what went wrong with a request, as a kind that the page can answer with a way out.

export type ErrorKind =
  | "gone" // no answer, or the connection ended before its time
  | "context" // the conversation does not fit
  | "key" // no key, or a wrong one
  | "model" // the model is unknown
  | "busy" // too many requests, or the server is starting or leaving
  | "unsupported" // this server cannot do it
  | "input" // a value is wrong
  | "server"; // the server's fault

export interface ErrorFacts {
  kind: ErrorKind;
  message: string;
  status?: number;
  retryAfterS?: number;
  promptTokens?: number;
  context?: number;
}

export class ApiError extends Error {
  constructor(readonly facts: ErrorFacts) {
    super(facts.message);
  }
  get kind(): ErrorKind {
    return this.facts.kind;
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

// Any thrown value as facts; what fetch throws means that nobody answered.
export function factsOf(error: unknown): ErrorFacts {
  if (error instanceof ApiError) return error.facts;
  const message = error instanceof Error ? error.message : String(error);
  return { kind: "gone", message };
}

function kindOfStatus(status: number): ErrorKind {
  if (status === 401 || status === 403) return "key";
  if (status === 404) return "model";
  if (status === 429 || status === 503) return "busy";
  if (status === 501) return "unsupported";
  return status >= 500 ? "server" : "input";
}

interface ErrorBody {
  code?: unknown;
  type?: unknown;
  message?: unknown;
  n_prompt_tokens?: unknown;
  n_ctx?: unknown;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

// The error that a body describes: an object, or for Ollama's paths a text.
export function errorOf(status: number, body: unknown, retryAfter: string | null = null): ApiError {
  const error = (body as { error?: unknown } | null)?.error;
  const fields: ErrorBody = typeof error === "object" && error !== null ? error : {};
  const message =
    typeof error === "string" ? error : typeof fields.message === "string" ? fields.message : `HTTP ${status}`;
  const facts: ErrorFacts = { kind: kindOfStatus(number(fields.code) ?? status), message, status };
  if (fields.type === "exceed_context_size_error") facts.kind = "context";
  const seconds = Number(retryAfter);
  if (retryAfter !== null && Number.isFinite(seconds)) facts.retryAfterS = seconds;
  const tokens = number(fields.n_prompt_tokens);
  const context = number(fields.n_ctx);
  if (tokens !== undefined) facts.promptTokens = tokens;
  if (context !== undefined) facts.context = context;
  return new ApiError(facts);
}
