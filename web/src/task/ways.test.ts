import { expect, test } from "vitest";

import type { GraphAtom, GraphGroup, WorkGraph } from "../api/types";
import { waysOf } from "./ways";

const atom = (id: string, standing: string): GraphAtom => ({ type: "atom", id, title: id, after: [], waits_for: [], is_leaf: true, standing, note: null, attempts: null, within: "whole", or_group: "way" });
const group: GraphGroup = { type: "group", id: "way", choices: ["a", "b", "c"], selected: "b", is_done: false, speculative: false, within: "whole" };
const graph: WorkGraph = { task_id: "t", title: "whole", done: 0, items: 3, standing: "running", revision: 1, parts: [group, atom("a", "given_up"), atom("b", "working"), atom("c", "aside")] };

test("the way that is taken, the one that failed and why, and the one that is left", () => {
  const ways = waysOf(graph, [{ or_group: "way", choice: "a", reason: "its check failed", timestamp: "2026-11-18T09:00:00Z" }]);
  expect(Object.fromEntries(ways)).toEqual({
    "way>a": { fares: "given_up", rank: 1, of: 3, because: "its check failed" },
    "way>b": { fares: "taken", rank: 2, of: 3 },
    "way>c": { fares: "left", rank: 3, of: 3 },
  });
});

test("one that was given up and is taken again is taken", () => {
  const again = { ...graph, parts: [{ ...group, selected: "c" }, atom("a", "given_up"), atom("b", "given_up"), atom("c", "working")] };
  expect(waysOf(again, [{ or_group: "way", choice: "c", reason: "once", timestamp: "2026-11-18T09:00:00Z" }]).get("way>c")).toEqual({ fares: "taken", rank: 3, of: 3 });
});
