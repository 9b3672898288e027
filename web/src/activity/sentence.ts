// What happened, as a sentence. A record that nobody has words for, since a newer server wrote it, is told by its name, and nothing is left
// out: what is bookkeeping is only quiet.
import type { StoredRecord } from "../api/types";
import { words } from "../text/format";
import { TELLERS } from "./tellers";

export type About = "decisions" | "work" | "agents" | "conversations" | "house";

export interface Sentence {
  /** Ours. */
  says: string;
  /** Somebody else's words, to be shown with nothing hidden. */
  quote?: string;
  tone?: "good" | "warn" | "bad";
  about: About;
  /** Of no interest unless one looks for it. */
  quiet?: boolean;
  /** What the runtime did next: enough to look it up by. */
  leads?: { to: "task" | "execution" | "review" | "stream"; id: string };
}

/** What streams are about; everything else is the house's own. */
const STEMS: Record<About, string[]> = {
  decisions: ["approval", "question"],
  work: ["task", "graph"],
  agents: ["execution"],
  conversations: ["session", "user"],
  house: ["goal", "monitor", "memory", "ground", "outbox", "audit"],
};
export const stemsOf = (about: About): string[] => STEMS[about];
const aboutOf = (stem: string): About => (Object.keys(STEMS) as About[]).find((about) => STEMS[about].includes(stem)) ?? "house";

export function sentence({ stream, kind, data }: Pick<StoredRecord, "stream" | "kind" | "data">): Sentence {
  const [stem = "", id = ""] = stream.split("/", 2);
  const about = aboutOf(stem);
  const leads: Sentence["leads"] =
    stem === "task" || stem === "graph" ? { to: "task", id } : stem === "execution" ? { to: "execution", id } : stem === "session" ? { to: "stream", id } : undefined;
  const told = TELLERS[kind]?.(data, id) ?? { says: `${capital(words(stem))}: ${words(kind.split(".").pop() ?? kind)}`, quiet: true };
  const known = { about, ...(leads ? { leads } : {}), ...told };
  return known.quote ? known : (({ quote: _, ...rest }) => rest)(known);
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
