// What is told of a task from what the server says of it, also where the server does not know.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, createElement, type ReactElement } from "react";
import { createRoot } from "react-dom/client";
import { expect, test } from "vitest";

import type { Schemas } from "../api/client";
import type { Explanation, GraphAtom, GraphGroup, WorkGraph } from "../api/types";
import { AtomDetails } from "./AtomDetails";
import { OverTime } from "./Executions";
import { Plot } from "./Plot";
import { Promised } from "./Promised";
import { ResultSummary } from "./ResultSummary";
import { Trail } from "./Trail";

const at = "2026-11-18T09:00:00Z";
const explained: Explanation = {
  busy: [], next: [], waits: null,
  failed: [{ atom: "a", attempts: 2, message: "no compiler", task_id: "t1" }],
  given_up: [{ or_group: "way", choice: "a", reason: "its check failed", timestamp: at }],
  trail: [{ or_group: "way", selected: "b", reason: "a was given up", timestamp: at }],
  promised: { attempts: 4, tokens: 1_000, cost_usd: 2, wall_time_seconds: 60 },
  used: { attempts: 1, tokens: 250, cost_usd: null, wall_time_seconds: 30 },
};
let spent: Schemas["Spending"] = { task_id: "t", unpriced: false, points: [] };
const objective = { bindings: [{ atom: "b", summary: "A page came of it", artifacts: [], files: ["index.html"] }], corrections: [{ at, kind: "objective_change", description: "in blue", trail_cleared: false, interrupted: 0 }] };

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

function markup(element: ReactElement): string {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(["task", "t", "explanation"], explained);
  client.setQueryData(["task", "t", "objective"], objective);
  client.setQueryData(["task-executions", "t", "spending"], spent);
  client.setQueryData(["task-executions", "t"], { pages: [{ executions: [], next: null }], pageParams: [undefined] });
  const place = document.createElement("div");
  const root = createRoot(place);
  act(() => root.render(createElement(QueryClientProvider, { client }, element)));
  const told = place.innerHTML;
  act(() => root.unmount());
  return told;
}

test("a model without a price has cost nobody knows how much, and everything else is told", () => {
  const told = markup(<Promised task="t" />);
  expect(told).toContain("cost unknown of $2.00");
  expect(told).toContain("Tokens: 25 % used");
  const usage = { total_tokens: 5, duration_ms: 1_000, iterations: 1, tool_calls: 0 };
  expect(markup(<ResultSummary result={{ status: "COMPLETED", cost_usd: null, usage }} />)).toContain("cost unknown");
  expect(markup(<ResultSummary result={{ status: "COMPLETED", cost_usd: 0, usage }} />)).toContain("$0.00");
});

test("the ways that were taken and why, and what people changed", () => {
  const told = markup(<Trail task="t" />);
  for (const words of ["way: b", "a was given up", "It was changed", "in blue"]) expect(told).toContain(words);
});

const atom = (id: string, standing: string): GraphAtom => ({ type: "atom", id, title: `The title of ${id}`, after: ["start"], waits_for: [], is_leaf: true, standing, note: null, attempts: { used: 2, of: 3 }, within: "whole", or_group: "way" });
const group: GraphGroup = { type: "group", id: "way", choices: ["a", "b"], selected: "b", is_done: true, speculative: false, within: "whole" };
const graph: WorkGraph = { task_id: "t", title: "whole", done: 1, items: 2, standing: "running", revision: 1, parts: [group, atom("a", "given_up"), atom("b", "done")] };
const details = (id: string) => markup(<AtomDetails task="t" part={graph.parts.find((part) => part.id === id) ?? group} graph={graph} onClose={() => undefined} />);

test("a part says what it came to, how it fared as a way and why it failed", () => {
  for (const words of ["The title of b", "A page came of it", "index.html", "way</bdi> (2 of 2)"]) expect(details("b")).toContain(words);
  for (const words of ["no compiler", "its check failed", "2 of 3", "way</bdi> (1 of 2)"]) expect(details("a")).toContain(words);
  for (const words of ["is taken", "was given up", "its check failed", "Take a …"]) expect(details("way")).toContain(words);
});

test("money over time is what all of them cost, also where that is nothing, and more than is counted where nobody knows", () => {
  const over = (cost_usd: number[], unpriced = false) => {
    spent = { task_id: "t", unpriced, points: cost_usd.map((cost_usd, index) => ({ at: `2026-11-18T09:0${index}:00Z`, tokens: 10 * (index + 1), cost_usd })) };
    return markup(<OverTime task="t" />);
  };
  expect(over([0.25, 0.5])).toContain('aria-label="Money over time, up to $0.5000"');
  expect(over([0.25, 0.5])).toContain("M0 40H0.00V21.00H100.00V2.00H100");
  expect(over([0.25, 0.5])).toContain('aria-label="Tokens over time, up to 20 tokens"');
  expect(over([0, 0])).toContain('aria-label="Money over time, up to $0.00"');
  const unpriced = over([1, 2], true);
  for (const words of ["up to $2.00 and more", "it cost more than is counted"]) expect(unpriced).toContain(words);
  expect(over([1])).toBe("");
});

test("a sum as it grew ends where it is now, and says so to those who do not see it", () => {
  const told = markup(<Plot name="Tokens" points={[[0, 10], [1_000, 40]]} told={(count) => `${count} tokens`} />);
  expect(told).toContain('aria-label="Tokens over time, up to 40 tokens"');
  expect(told).toContain("M0 40H0.00V30.50H100.00V2.00H100");
});
