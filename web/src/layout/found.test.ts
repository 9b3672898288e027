import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";

import type { StoredRecord } from "../api/types";
import { found, foundIn } from "./found";

const record = (stream: string, kind: string, data: Record<string, unknown>): StoredRecord => ({ position: 1, at: "", stream, kind, version: 1, data });

afterEach(() => vi.unstubAllGlobals());

test("tasks by their goals, executions by who works; a part is found with its whole, and a turn of a conversation in it", () => {
  const goal = { command: { goal: "Make a shop\nand more" } };
  expect(
    foundIn([
      record("task/0000-11112222", "task.created", goal),
      record("task/part", "task.created", { ...goal, part_of: { root: "t" } }),
      record("task/turn", "task.created", { ...goal, turn: "m" }),
      record("execution/0000-33334444", "journal.header", { agent_id: "executor" }),
    ]),
  ).toEqual([
    { kind: "task", id: "0000-11112222", name: "Make a shop · 11112222" },
    { kind: "execution", id: "0000-33334444", name: "executor · 33334444" },
  ]);
});

test("pages in which nothing was found are gone over, and what was asked for is no more than is shown", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    const records = asked.length < 3 ? [] : Array.from({ length: 12 }, (_, index) => record(`execution/${index}`, "journal.header", {}));
    return Promise.resolve(Response.json({ records, next: String(asked.length) }));
  });
  expect(await new QueryClient().fetchQuery(found(" shop "))).toHaveLength(12);
  expect(asked).toHaveLength(3);
  expect(asked[2]).toContain("words=shop&limit=12&cursor=2");
  expect([found("sh").enabled, found("shop").enabled]).toEqual([false, true]);
});
