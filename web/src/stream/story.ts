// A conversation as it is shown, made of its events: what was said, what began, what is being said at this moment. Pure: the same records
// make the same story, however they were cut.
import type { Delta, StoredRecord } from "../api/types";

export type StoryItem =
  | { kind: "said"; key: string; by: "user" | "windlass"; words: string; at: string; who?: string }
  | { kind: "task"; key: string; task: string; at: string };

export interface LiveWords {
  execution: string;
  task: string | undefined;
  text: string;
  reasoning: string;
  printed: string;
  note: string;
}

export interface Story {
  items: StoryItem[];
  live: Map<string, LiveWords>;
  /** Whether a turn is under way. */
  isThinking: boolean;
  /** Who speaks next, as the trigger before it says. */
  speaker: string | undefined;
}

export const noStory = (): Story => ({ items: [], live: new Map(), isThinking: false, speaker: undefined });

/** Only the end of what is being printed is shown while it is. */
const LONGEST_LIVE = 8_000;

export function withRecords(before: Story, records: StoredRecord[]): Story {
  const story: Story = { ...before, items: [...before.items], live: new Map(before.live) };
  for (const { position, at, stream, kind, data } of records) {
    const key = String(position);
    const text = (name: string): string | undefined => (typeof data[name] === "string" ? data[name] : undefined);
    switch (kind) {
      case "session.triggered":
        story.speaker = text("by");
        break;
      case "user.said":
        story.items.push({ kind: "said", key, by: "user", words: text("words") ?? "", at, ...(story.speaker ? { who: story.speaker } : {}) });
        break;
      case "turn.started":
        story.isThinking = true;
        break;
      case "turn.ended": {
        story.isThinking = false;
        const decision = data.decision as { response?: string } | undefined;
        if (decision?.response) story.items.push({ kind: "said", key, by: "windlass", words: decision.response, at });
        break;
      }
      case "session.task_taken": {
        const task = text("task_id");
        if (task !== undefined) story.items.push({ kind: "task", key, task, at });
        break;
      }
      case "owner-effect.recorded":
        if (data.kind === "told" && text("message")) story.items.push({ kind: "said", key, by: "windlass", words: text("message") ?? "", at });
        break;
      case "model.responded":
      case "state.changed":
        // The record has all of it.
        story.live.delete(stream.split("/")[1] ?? "");
        break;
      case "tool.finished": {
        const execution = stream.split("/")[1] ?? "";
        const live = story.live.get(execution);
        if (live) story.live.set(execution, { ...live, printed: "" });
        break;
      }
    }
  }
  return story;
}

export function withDeltas(before: Story, deltas: Delta[]): Story {
  const live = new Map(before.live);
  for (const delta of deltas) {
    const was = live.get(delta.execution_id) ?? { execution: delta.execution_id, task: delta.task_id, text: "", reasoning: "", printed: "", note: "" };
    const end = (text: string) => text.slice(-LONGEST_LIVE);
    const now = { ...was, note: "" };
    if (delta.kind === "text") now.text = end(was.text + (delta.text ?? ""));
    if (delta.kind === "reasoning") now.reasoning = end(was.reasoning + (delta.text ?? ""));
    if (delta.kind === "tool_output") now.printed = end(was.printed + (delta.text ?? ""));
    if (delta.kind === "retrying") now.note = `The model did not answer (${delta.reason ?? "no reason"}); it is asked again.`;
    live.set(delta.execution_id, now);
  }
  return { ...before, live };
}
