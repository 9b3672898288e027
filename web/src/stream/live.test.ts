import { expect, test } from "vitest";

import type { Delta, StoredRecord } from "../api/types";
import { isSilent, type LiveNow, nothingSaid, torn, withDeltas, withRecorded } from "./live";

const said = (kind: "text" | "tool_output", text: string, call_id?: string): Delta => ({ kind, text, execution_id: "e", task_id: "p", whole: "t", ...(call_id ? { call_id } : {}) });
const record = (kind: string, data: Record<string, unknown> = {}): StoredRecord => ({ position: 1, at: "", stream: "execution/e", kind, version: 1, data });
const words = (live: LiveNow) => live.words.get("e");
const begun = () => withRecorded(nothingSaid(), [record("state.changed")]);

test("calls that print at once print each for itself, and the end of one is not that of the others", () => {
  let live = withDeltas(begun(), [said("tool_output", "a1 ", "a"), said("tool_output", "b1 ", "b"), said("tool_output", "a2", "a")]);
  expect(words(live)?.printed).toEqual([{ call: "a", text: "a1 a2" }, { call: "b", text: "b1 " }]);
  live = withRecorded(live, [record("tool.finished", { call_id: "a" })]);
  expect(words(live)?.printed).toEqual([{ call: "b", text: "b1 " }]);
  live = withRecorded(live, [record("tool.finished", { call_id: "b" })]);
  expect(isSilent(words(live)!)).toBe(true);
});

test("what was missed is nobody's, makes no words of its own, and marks what is there", () => {
  const live = withDeltas(begun(), [said("text", "one "), { kind: "missed", pieces: 3 }, said("text", "five")]);
  expect([...live.words.keys()]).toEqual(["e"]);
  expect(words(live)).toMatchObject({ text: "one five", task: "t", hasHole: true });
  // The next answer is heard from its beginning.
  const next = withDeltas(withRecorded(live, [record("model.responded")]), [said("text", "again")]);
  expect(words(next)).toMatchObject({ text: "again", hasHole: false });
});

test("whoever was away, or came in the midst of it, reads that something is missing", () => {
  expect(words(withDeltas(nothingSaid(), [said("text", "…ddle")]))?.hasHole).toBe(true);
  const live = withDeltas(begun(), [said("text", "one ")]);
  expect(words(live)?.hasHole).toBe(false);
  expect(words(withDeltas(torn(live), [said("text", "three")]))?.hasHole).toBe(true);
});
