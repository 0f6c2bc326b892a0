// Timings: the times that the server tells with each answer. Milliseconds and tokens.

export interface Timings {
  cache_n: number;
  prompt_n: number;
  predicted_n: number;
  predicted_ms: number;
  predicted_per_second: number;
  queue_ms: number;
  template_ms: number;
  tokenize_ms: number;
  cache_ms: number;
  prefill_ms: number;
  first_token_ms: number;
  draft_n: number;
  draft_n_accepted: number;
  truncated: boolean;
  dropped_tokens: number;
}

// All tokens that the conversation has after the answer.
export function totalTokens(timings: Timings): number {
  return timings.cache_n + timings.prompt_n + timings.predicted_n;
}
