// What is being said and printed at this moment, before it is a record: by whom, in which call, and whether some of it was not heard. Pure:
// the same pieces and records make the same words, however they were cut.
import type { Delta, StoredRecord } from "../api/types";

export interface LiveWords {
  execution: string;
  /** The task that it is for, or of which it is a part. */
  task: string;
  text: string;
  reasoning: string;
  /** Calls that print, each by itself. */
  printed: { call: string; text: string }[];
  note: string;
  hasHole: boolean;
}

export interface LiveNow {
  words: Map<string, LiveWords>;
  /** Executions of which everything that is said from now on is heard from its beginning. */
  whole: Set<string>;
}

export const nothingSaid = (): LiveNow => ({ words: new Map(), whole: new Set() });

/** Only the end of what is being printed is shown while it is. */
const LONGEST = 8_000;
const end = (text: string) => text.slice(-LONGEST);

export function withDeltas(before: LiveNow, deltas: Delta[]): LiveNow {
  let live: LiveNow = { words: new Map(before.words), whole: before.whole };
  for (const delta of deltas) {
    if (delta.kind === "missed") {
      live = torn(live);
      continue;
    }
    const { execution_id: execution, whole: task, text = "" } = delta;
    const was = live.words.get(execution) ?? { execution, task, text: "", reasoning: "", printed: [], note: "", hasHole: !live.whole.has(execution) };
    const now = { ...was, note: "" };
    if (delta.kind === "text") now.text = end(was.text + text);
    if (delta.kind === "reasoning") now.reasoning = end(was.reasoning + text);
    if (delta.kind === "tool_output") now.printed = printed(was.printed, delta.call_id ?? "", text);
    if (delta.kind === "retrying") now.note = `The model did not answer (${delta.reason ?? "no reason"}); it is asked again.`;
    live.words.set(execution, now);
  }
  return live;
}

function printed(before: LiveWords["printed"], call: string, text: string): LiveWords["printed"] {
  if (!before.some((one) => one.call === call)) return [...before, { call, text: end(text) }];
  return before.map((one) => (one.call === call ? { call, text: end(one.text + text) } : one));
}

/** Some of it was not heard, and nobody knows of what. */
export function torn({ words }: LiveNow): LiveNow {
  return { words: new Map([...words].map(([execution, said]) => [execution, { ...said, hasHole: true }])), whole: new Set() };
}

/** What is a record is not being said any more: the record has all of it. */
export function withRecorded(before: LiveNow, records: StoredRecord[]): LiveNow {
  const live = { words: new Map(before.words), whole: new Set(before.whole) };
  for (const { stream, kind, data } of records) {
    const execution = stream.split("/")[1] ?? "";
    if (kind === "journal.header" || kind === "state.changed" || kind === "model.responded") {
      live.words.delete(execution);
      live.whole.add(execution);
    }
    const said = live.words.get(execution);
    if (kind === "tool.finished" && said !== undefined) {
      live.words.set(execution, { ...said, printed: said.printed.filter(({ call }) => call !== data.call_id) });
    }
  }
  return live;
}

export const isSilent = ({ text, reasoning, printed: calls, note }: LiveWords): boolean => text + reasoning + note === "" && calls.length === 0;
