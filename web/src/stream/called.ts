// What a conversation is called: what it began with, its folder, and when something happened in it last.
import type { Schemas } from "../api/client";
import { clock, day, firstLine, short } from "../text/format";

export function called({ first_words: words, workspace, last_at: last, user_id: user, session_id: id }: Schemas["SessionSummary"]): string {
  const name = firstLine(words ?? "").slice(0, 48) || short(id);
  return [name, workspace?.split("/").pop(), user, last ? `${day(last)} ${clock(last)}` : undefined].filter(Boolean).join(" · ");
}
