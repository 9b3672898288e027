import { expect, test, vi } from "vitest";

import type { Turn } from "../api/types";
import { rowsOf } from "./rows";

const piece = (turn: number, more: Partial<Turn> = {}): Turn => ({ turn, asked: [], began_at: "2026-11-18T09:00:00Z", last_at: "2026-11-18T09:00:00Z", cost: 1, model_calls: 9, usage: { input: 1, output: 1 }, end: { how: "completed" }, steps: [{ step: "said", text: `${turn}` }, { step: "said", text: "again" }], ...more });
const kinds = (pieces: Turn[], find = "", isAll = true) => rowsOf(pieces, find, isAll).map((row) => (row.kind === "end" ? row.says : row.kind)).join(", ");

test("a turn in three pieces has one head, one end, and no two rows of one name", () => {
  const long = [piece(1, { asked: [{ kind: "prompt", text: "go" }] }), piece(1, { continues: true }), piece(1, { continues: true }), piece(2)];
  const rows = rowsOf(long, "", true);
  expect(kinds(long)).toBe("turn, asked, step, step, step, step, step, step, The turn is over., turn, step, step, The turn is over.");
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  // What is found in its last piece stands under its head.
  expect(kinds([piece(1), piece(1, { continues: true, steps: [{ step: "said", text: "needle" }] })], "needle")).toBe("turn, step");
});

test("a step is written out once, however often it is looked through", () => {
  const write = vi.fn(() => "a Needle");
  const step = { step: "called", arguments: { toJSON: write } };
  for (const find of ["n", "ne", "needle", "needles"]) rowsOf([piece(1, { steps: [step] })], find, true);
  expect(write).toHaveBeenCalledTimes(1);
});

test("where it ends is not known before its last piece is there", () => {
  expect(kinds([piece(1)], "", false)).toBe("turn, step, step");
});

test.each([
  [{ how: "open" }, "It is at work on this."],
  [{ how: "failed", reason: "the model is gone" }, "The turn failed: the model is gone"],
  [{ how: "rests", reason: "a card waits" }, "It rests: a card waits"],
  [{ how: "interrupted" }, "The turn was interrupted."],
])("%j is told with its reason", (end, says) => {
  expect(kinds([piece(1, { end })]).split(", ").at(-1)).toBe(says);
});

test("one that was left open by another has no end of its own", () => {
  expect(kinds([piece(1, { end: { how: "open" } }), piece(2, { end: { how: "open" } })])).toBe("turn, step, step, turn, step, step, It is at work on this.");
});
