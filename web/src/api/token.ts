// The token, for as long as this tab is open and nowhere else: another tab, a later day and a deep link have to be told it anew.
const NAME = "windlass.token";
const listeners = new Set<() => void>();

export function token(): string | null {
  return sessionStorage.getItem(NAME);
}

let lost = false;

/** The server knows it no more. */
export function loseToken(): void {
  setToken(null);
  lost = true;
  for (const listener of listeners) listener();
}

export const wasLost = (): boolean => lost;

export function setToken(value: string | null): void {
  lost = false;
  if (value === null) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, value);
  for (const listener of listeners) listener();
}

export function onToken(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
