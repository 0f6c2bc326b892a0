// The address behind the #: a new chat, a conversation, the metrics.
import { signal } from "@preact/signals";

export type Route = { page: "new" } | { page: "chat"; id: string } | { page: "metrics" };

export function parseRoute(hash: string): Route {
  if (hash === "#/metrics") return { page: "metrics" };
  const chat = /^#\/c\/([A-Za-z0-9_-]{1,64})$/.exec(hash);
  return chat ? { page: "chat", id: chat[1]! } : { page: "new" };
}

export const route = signal<Route>(parseRoute(location.hash));

addEventListener("hashchange", () => (route.value = parseRoute(location.hash)));

export function goTo(hash: string): void {
  if (location.hash === hash) route.value = parseRoute(hash);
  else location.hash = hash;
}

// The address of what is shown already, as when a new conversation gets its first message.
export function renameRoute(hash: string): void {
  history.replaceState(null, "", hash);
  route.value = parseRoute(hash);
}
