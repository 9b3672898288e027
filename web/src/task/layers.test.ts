import { expect, test } from "vitest";

import type { GraphAtom, GraphGroup, WorkGraph } from "../api/types";
import { layered } from "./layers";

const atom = (id: string, more: Partial<GraphAtom> = {}): GraphAtom => ({ type: "atom", id, title: id, after: [], waits_for: [], is_leaf: true, standing: "next", note: null, attempts: null, within: "whole", ...more });
const graph = (parts: (GraphAtom | GraphGroup)[]): WorkGraph => ({ task_id: "t", title: "whole", done: 0, items: parts.length, standing: "running", revision: 1, parts });
const { within: _, ...whole } = atom("whole", { is_leaf: false });

test("everything stands right of what it comes after", () => {
  const group: GraphGroup = { type: "group", id: "way", choices: ["b", "c"], selected: null, is_done: false, speculative: false, within: "whole" };
  const { nodes, edges } = layered(graph([whole, atom("a"), group, atom("b", { or_group: "way" }), atom("c", { or_group: "way", after: ["a"] }), atom("d", { after: ["way"] })]));
  const x = Object.fromEntries(nodes.map(({ part, x }) => [part.id, x]));
  for (const { from, to } of edges) expect(x[from]).toBeLessThan(x[to] ?? 0);
  expect(edges.filter(({ isChoice }) => isChoice).map(({ from, to }) => `${from}>${to}`)).toEqual(["b>way", "c>way"]);
  expect(x.whole).toBe(Math.max(...Object.values(x)));
});

test("a circle, which no server would send, is drawn all the same", () => {
  expect(layered(graph([whole, atom("a", { after: ["b"] }), atom("b", { after: ["a"] })])).nodes).toHaveLength(3);
});

test("five thousand atoms are placed, each in a place of its own", () => {
  const many = Array.from({ length: 5_000 }, (_, index) => atom(`a${index}`, { after: index % 50 === 0 ? [] : [`a${index - 1}`] }));
  const { nodes } = layered(graph([whole, ...many]));
  expect(new Set(nodes.map(({ x, y }) => `${x},${y}`)).size).toBe(5_001);
});

test("five thousand in one chain stand in as many columns, and five thousand side by side in one", () => {
  // From the last to the first, so that nothing before it is known.
  const chain = Array.from({ length: 5_000 }, (_, index) => atom(`a${index}`, { after: index === 4_999 ? [] : [`a${index + 1}`] }));
  expect(new Set(layered(graph([whole, ...chain])).nodes.map(({ x }) => x)).size).toBe(5_001);
  const fan = Array.from({ length: 5_000 }, (_, index) => atom(`a${index}`));
  expect(new Set(layered(graph([whole, ...fan])).nodes.map(({ x }) => x)).size).toBe(2);
});
