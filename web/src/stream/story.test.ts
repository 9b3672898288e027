import { expect, test } from "vitest";

import type { StoredRecord } from "../api/types";
import { merged, MOST, storyOf, withNews } from "./story";

let position = 0;
const record = (kind: string, data: Record<string, unknown>, surfaces: StoredRecord["surfaces"] = []): StoredRecord => {
  position += 1;
  return { position, at: "2026-11-19T09:00:00Z", stream: "session/s", kind, version: 1, data, surfaces };
};
const ended = (done: object, response: string) => record("turn.ended", { run: "r", decision: { route: "new_task", response }, done });

test("where nothing came of it the user reads why, and not what the model had promised", () => {
  const { items } = storyOf([ended({ kind: "not", why: "There is no such task." }, "On it."), ended({ kind: "began", task: "t" }, "On it.")]);
  expect(items.map((item) => item.kind === "said" && item.words)).toEqual(["There is no such task.", "On it."]);
});

test("who speaks is whom the trigger names, and what another task was told leads to it", () => {
  const { items, isThinking } = storyOf([
    record("session.triggered", { by: "ada" }),
    record("user.said", { words: "use tabs" }),
    record("turn.started", {}),
    ended({ kind: "told", task: "t" }, "They hear it."),
  ]);
  expect(items).toMatchObject([{ by: "user", who: "ada", words: "use tabs" }, { by: "windlass", task: "t" }]);
  expect(isThinking).toBe(false);
  expect(storyOf([record("turn.started", {})]).isThinking).toBe(true);
});

test("what is told of a task is told where the server says, and its end by the task itself", () => {
  const told = (status: string, surfaces: StoredRecord["surfaces"]) => record("status.told", { task: "t", item: "one", status, detail: "why" }, surfaces);
  const { items } = storyOf([told("stuck", ["stream", "activity"]), told("blocked", ["stream"]), told("verification_failed", ["stream"]), told("running", ["activity"]), told("done", ["stream"])]);
  expect(items.map((item) => item.kind === "news" && `${item.item} ${item.status}`)).toEqual(["one stuck", "one blocked", "one verification_failed"]);
});

test("pages and news make one story, whatever came first", () => {
  const [one, two, three] = [record("user.said", { words: "1" }), record("user.said", { words: "2" }), record("user.said", { words: "3" })];
  expect(merged(merged([], [three]), [one, two, three])).toEqual([one, two, three]);
  const known = [one, two];
  expect(merged(known, [two])).toBe(known);
});

test("of a conversation that goes on and on the end is kept, and where the rest is", () => {
  const many = Array.from({ length: MOST }, () => record("user.said", { words: "again" }));
  const news = record("user.said", { words: "news" });
  const kept = withNews({ records: many, earlier: null }, [news], true);
  expect([kept.records.length, kept.records.at(-1), kept.earlier]).toEqual([MOST, news, String(many[1]?.position)]);
  // Not what somebody reads at this moment.
  expect(withNews({ records: many, earlier: null }, [news], false)).toMatchObject({ records: { length: MOST + 1 }, earlier: null });
  const before = { records: many, earlier: "3" };
  expect(withNews(before, many.slice(3, 5), true)).toBe(before);
});
