import { expect, test } from "vitest";

import { added, aimed, bound, limited } from "./wanted";

test("an atom with its checks, what it comes after and what holds it", () => {
  expect(added({ id: " docs ", description: "Write it.", checks: "file: a.md\ncommand: grep -q 'a, {b}: c' a.md\nmake test", after: "a, b c", within: "whole" })).toEqual({
    graph: { add: [{ id: "docs", description: "Write it.", verify: [{ file: "a.md" }, { command: "grep -q 'a, {b}: c' a.md" }, { command: "make test" }], depends_on: ["a", "b", "c"] }], to: "whole" },
  });
  expect(added({ id: "d", description: "x", checks: "", after: "", within: "" })).toEqual({ graph: { add: [{ id: "d", description: "x" }] } });
});

test("of everything else only what is to be different", () => {
  expect(aimed("the same", "the same ", "", "")).toEqual({ objective: {} });
  expect(aimed("another", "the same", "file: a\n\n", "when it is")).toEqual({ objective: { goal: "another", base_case: ["file: a"], done: "when it is" } });
  expect(limited({ max_atoms: "12", max_choices: "" })).toEqual({ limits: { max_atoms: 12 } });
  expect(bound("a", " a page ")).toEqual({ binding: { atom: "a", text: "a page" } });
});
