// What one has begun to write in a conversation and not said yet: kept while one looks elsewhere, for as long as one is signed in.
import { onToken } from "../api/token";

const drafts = new Map<string, string>();
onToken(() => drafts.clear());

export const draft = (session: string): string => drafts.get(session) ?? "";

export function keepDraft(session: string, words: string): void {
  if (words === "") drafts.delete(session);
  else drafts.set(session, words);
}
