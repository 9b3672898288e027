// A conversation as it is shown, made of its records: what was said, what began, what was told of it. Pure: the same records make the
// same story.
import type { StoredRecord } from "../api/types";

export type StoryItem =
  | { kind: "said"; key: string; by: "user" | "windlass"; words: string; at: string; who?: string; task?: string }
  | { kind: "news"; key: string; task: string; item: string; status: string; words: string; at: string }
  | { kind: "task"; key: string; task: string; at: string };

export interface Story {
  items: StoryItem[];
  /** Whether a turn is under way. */
  isThinking: boolean;
}

/** The kinds of records that it is made of. */
export const STORY_KINDS = ["session.triggered", "user.said", "turn.started", "turn.ended", "session.task_taken", "status.told", "owner-effect.recorded"];

interface Done {
  kind: string;
  why?: string;
  task?: string;
}

export function storyOf(records: StoredRecord[]): Story {
  const story: Story = { items: [], isThinking: false };
  /** Who speaks next, as the trigger before it says. */
  let speaker: string | undefined;
  for (const { position, at, kind, data, surfaces = [] } of records) {
    const key = String(position);
    const text = (name: string): string => (typeof data[name] === "string" ? data[name] : "");
    switch (kind) {
      case "session.triggered":
        speaker = text("by") || undefined;
        break;
      case "user.said":
        story.items.push({ kind: "said", key, by: "user", words: text("words"), at, ...(speaker ? { who: speaker } : {}) });
        break;
      case "turn.started":
        story.isThinking = true;
        break;
      case "turn.ended": {
        story.isThinking = false;
        const done = data.done as Done | undefined;
        const words = answer(data.decision as { response?: string } | undefined, done);
        // What was begun stands behind it as a piece of work; what another one was told, only the link says.
        if (words) story.items.push({ kind: "said", key, by: "windlass", words, at, ...(done?.kind === "told" && done.task ? { task: done.task } : {}) });
        break;
      }
      case "session.task_taken":
        if (text("task_id")) story.items.push({ kind: "task", key, task: text("task_id"), at });
        break;
      case "status.told":
        // That it is done, the piece of work says itself.
        if (surfaces.includes("stream") && text("status") !== "done") story.items.push({ kind: "news", key, task: text("task"), item: text("item"), status: text("status"), words: text("detail"), at });
        break;
      case "owner-effect.recorded":
        if (data.kind === "told" && text("message")) story.items.push({ kind: "said", key, by: "windlass", words: text("message"), at });
        break;
    }
  }
  return story;
}

/** As `TurnEnded::answer` has it: where nothing came of it, why; whatever the model had promised. */
const answer = (decision: { response?: string | null } | undefined, done: Done | undefined): string =>
  (done?.kind === "not" ? done.why : decision?.response) ?? "";

/** Both in order, and nothing twice. */
export function merged(before: StoredRecord[], more: StoredRecord[]): StoredRecord[] {
  const known = new Set(before.map(({ position }) => position));
  const fresh = more.filter(({ position }) => !known.has(position));
  return fresh.length === 0 ? before : [...before, ...fresh].sort((one, other) => one.position - other.position);
}

/** What was read of it, and where earlier records are: null where there are none, undefined before anything was read. */
export interface Read {
  records: StoredRecord[];
  earlier: string | null | undefined;
}

/** So many records are kept while more come: earlier ones are read again when somebody wants them. */
export const MOST = 1_000;

/** With what has just happened. Of many records the oldest go, but not while somebody reads further up. */
export function withNews(before: Read, news: StoredRecord[], isAtEnd: boolean): Read {
  const records = merged(before.records, news);
  if (records === before.records) return before;
  if (records.length <= MOST || !isAtEnd) return { ...before, records };
  const kept = records.slice(-MOST);
  return { records: kept, earlier: String(kept[0]?.position) };
}
