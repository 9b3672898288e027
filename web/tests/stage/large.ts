// Pages of what is larger than anybody waits for agents to make: the server's answers are made up, and typed as the server's are, so that
// what a page reads of them is there.
import type { Page } from "playwright-core";

import type { Execution, GraphAtom, StoredRecord, Task, Turn, WorkGraph } from "../../src/api/types";

const ID = "01a1ecae-a16b-7260-acce-7dd0eb7861c2";
const AT = "2026-11-18T09:00:00Z";
const TURNS = 50;
const STEPS = 2_000;

const answers = (page: Page, what: RegExp, body: unknown) => page.route(what, (route) => route.fulfill({ json: body }));

const RUN: Execution = {
  execution_id: ID, lifecycle: "completed", activity: "idle", attention: "none", agent_id: "executor", model: "rehearsal", scope: { kind: "task", id: ID }, records: 1, parent: null,
  began_at: AT, last_at: AT, tokens: 2, cost_usd: 0, recorded: false,
};
const called = Array.from({ length: STEPS }, (_, index) => ({ step: "called", tool: "bash", call_id: `c${index}`, arguments: { command: `echo ${index}` }, result: "ok", status: "ok", duration_ms: 3 }));
const turn = (number: number): Turn => ({ turn: number, asked: [], began_at: AT, last_at: AT, cost: 0, model_calls: 1, usage: { input: 1, output: 1 }, end: null, steps: called });

/** An execution of a hundred thousand steps; says how many. */
export async function steps(page: Page): Promise<number> {
  await answers(page, /\/v1\/executions\/[^/]+$/, RUN);
  await answers(page, /\/timeline\?/, { items: Array.from({ length: TURNS }, (_, index) => turn(index + 1)), next: null });
  await page.evaluate((id) => history.pushState({}, "", `/executions/${id}`), ID);
  await page.reload();
  await page.getByRole("heading", { name: "Turn 1", exact: true }).waitFor();
  return TURNS * STEPS;
}

/** So many lines of Activity. */
export async function lines(page: Page, count: number): Promise<void> {
  const record = (position: number): StoredRecord => ({ position, at: AT, stream: `task/${ID}`, kind: "task.created", version: 1, data: { command: { goal: `goal ${position}` } }, surfaces: ["activity"] });
  await answers(page, /\/v1\/activity\?(?!limit=1$)/, { records: Array.from({ length: count }, (_, index) => record(count - index)), next: null, last: count });
  await page.evaluate(() => history.pushState({}, "", "/activity"));
  await page.reload();
  await page.locator(".happened").first().waitFor();
}

export type Shape = (index: number) => string[];
export const CHAINS: Shape = (index) => (index % 50 === 0 ? [] : [`a${index - 1}`]);

/** A graph of so many atoms, chains of fifty where nothing else is said; says how many milliseconds it took to be drawn. */
export async function drawnGraph(page: Page, atoms: number, after: Shape = CHAINS): Promise<number> {
  const done = Math.floor(atoms / 5);
  const atom = (index: number): GraphAtom => ({ type: "atom", id: `a${index}`, title: `Atom ${index}`, within: "whole", after: after(index), waits_for: [], is_leaf: true, standing: index < done ? "done" : "waiting", note: null, attempts: null });
  const { within: _, ...whole } = { ...atom(0), id: "whole", is_leaf: false, after: [] };
  const task: Task = { task_id: ID, status: "RUNNING", standing: "running", waits_for: [], goal: "Many", title: "Many", part_of: null, workspace: "/srv", created_at: AT, attempts: 1, planned: true, result: null };
  const graph: WorkGraph = { task_id: ID, title: "Many", done, items: atoms, standing: "running", revision: 1, parts: [whole, ...Array.from({ length: atoms }, (_, index) => atom(index))] };
  await answers(page, /\/v1\/tasks\/[^/]+$/, task);
  await answers(page, /\/graph$/, graph);
  await page.evaluate((id) => history.pushState({}, "", `/tasks/${id}`), ID);
  const began = Date.now();
  await page.reload();
  await page.getByLabel(`The work: ${done} of ${atoms} items done`).waitFor();
  return Date.now() - began;
}
