// Answers of the server's that are made up, typed as the server's are: what nobody has to make agents come to, so that it can be looked at.
import type { Page } from "playwright-core";

import type { Schemas } from "../../src/api/client";
import type { Card, Explanation, GraphAtom, GraphGroup, Task, WorkGraph } from "../../src/api/types";

export const ID = "01a1ecae-a16b-7260-acce-7dd0eb7861c2";
const AT = "2026-11-18T09:00:00Z";

const CARD: Card = {
  card_id: "01a1ecae-a16b-7260-acce-000000000000", intent: "rm old.txt", risk_level: "high", rationale: "It is old.", consequence_label: "it runs", affected_items: ["old.txt"],
  details: { tool: "bash", arguments: { command: "rm old.txt" }, argv: ["bash", "-c", "rm old.txt"], cwd: "", workspace: "/srv", sandbox: "bubblewrap", files: {} },
  worst_case: { attempts: 3, tokens: 200_000, cost_usd: 2, wall_time_seconds: 1_800 }, expires_at: Date.parse("2030-01-01T00:00:00Z"), binds: { scope: "single_step", max_executions: 1 },
};

/** This one card waits, and nothing else. */
export async function card(page: Page): Promise<void> {
  await page.route(/\/v1\/approvals\?/, (route) => route.fulfill({ json: { approvals: [{ card: CARD, task_id: ID, standing: "open", whose: null, asked_at: AT, decision: null }], next: null } }));
  await page.route(/\/v1\/questions\?/, (route) => route.fulfill({ json: { questions: [], next: null } }));
}

const atom = (id: string, standing: string, more: Partial<GraphAtom> = {}): GraphAtom => ({ type: "atom", id, title: `The title of ${id}`, within: "whole", after: [], waits_for: [], is_leaf: true, standing, note: null, attempts: { used: 1, of: 3 }, ...more });
const GROUP: GraphGroup = { type: "group", id: "way", within: "whole", choices: ["first", "second"], selected: "second", is_done: false, speculative: false };
const { within: _, ...WHOLE } = atom("whole", "running", { is_leaf: false });
const GRAPH: WorkGraph = {
  task_id: ID, title: "A page", done: 1, items: 4, standing: "running", revision: 3,
  parts: [WHOLE, atom("data", "done"), GROUP, atom("first", "given_up", { or_group: "way", note: "its check failed" }), atom("second", "running", { or_group: "way" }), atom("end", "waiting", { after: ["data", "way"], waits_for: ["way"] })],
};
const TASK: Task = { task_id: ID, status: "RUNNING", standing: "running", waits_for: [], goal: "A page", title: "A page", part_of: null, workspace: "/srv", created_at: AT, attempts: 1, planned: true, result: null };
const EXPLANATION: Explanation = {
  busy: [], next: [], waits: null, failed: [{ atom: "first", attempts: 3, message: "no compiler", task_id: ID }],
  given_up: [{ or_group: "way", choice: "first", reason: "its check failed", timestamp: AT }], trail: [{ or_group: "way", selected: "second", reason: "first was given up", timestamp: AT }],
  promised: { attempts: 4, tokens: 1_000, cost_usd: 2, wall_time_seconds: 60 }, used: { attempts: 1, tokens: 250, cost_usd: 0.5, wall_time_seconds: 30 },
};
const OBJECTIVE: Omit<Schemas["Objective"], "constraints"> & { constraints: object } = {
  task_id: ID, goal: "A page", background_intent: "", definition_of_done: "It is there.", deliverables: "", base_case: [], base_case_passed: null, trail: [], corrections: [], sought: null, constraints: {},
  bindings: [{ atom: "data", summary: "Twelve rows.", artifacts: [], files: ["rows.csv"] }],
};
const REDIRECT: Schemas["RedirectShown"] = {
  task_id: ID, description: "the graph is now without `end`", changes: ["  end: waiting → not done"], interrupted: 1, undone: ["second"], risk_level: "high", seen: "s", redirected: false, message: "A small thing.",
  worst_case: { attempts: 4, tokens: 1_000, cost_usd: 2, wall_time_seconds: 60 },
};

/** A task whose work is under way, with a way that was given up and another that is taken. */
export async function atWork(page: Page): Promise<void> {
  const answers = (what: RegExp, json: unknown) => page.route(what, (route) => route.fulfill({ json }));
  await answers(/\/v1\/tasks\/[^/]+$/, TASK);
  await answers(/\/graph$/, GRAPH);
  await answers(/\/explanation$/, EXPLANATION);
  await answers(/\/objective$/, OBJECTIVE);
  await answers(/\/executions\?/, { executions: [], next: null });
  await answers(/\/spending$/, { task_id: ID, unpriced: false, points: [{ at: AT, tokens: 10, cost_usd: 0.1 }, { at: "2026-11-18T09:05:00Z", tokens: 250, cost_usd: 0.5 }] } satisfies Schemas["Spending"]);
  await answers(/\/deliverables\?/, { deliverables: [], next: null });
  await answers(/\/redirect$/, REDIRECT);
}
