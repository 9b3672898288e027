// Pages of what is larger than anybody waits for agents to make: the server's answers are made up.
import type { Page, Route } from "playwright-core";

const ID = "01a1ecae-a16b-7260-acce-7dd0eb7861c2";
const TURNS = 50;
const STEPS = 2_000;

const answers = (page: Page, what: RegExp, body: (route: Route) => unknown) => page.route(what, (route) => route.fulfill({ json: body(route) }));

/** An execution of a hundred thousand steps; says how many. */
export async function steps(page: Page): Promise<number> {
  const run = { execution_id: ID, lifecycle: "completed", activity: "idle", attention: "none", agent_id: "executor", model: "rehearsal", scope: { kind: "task", id: ID }, records: 1 };
  const called = Array.from({ length: STEPS }, (_, index) => ({ step: "called", tool: "bash", call_id: `c${index}`, arguments: { command: `echo ${index}` }, result: "ok", status: "ok", duration_ms: 3 }));
  const turn = (number: number) => ({ turn: number, asked: [], began_at: "2026-11-18T09:00:00Z", last_at: "2026-11-18T09:00:00Z", cost: 0, model_calls: 1, usage: { input: 1, output: 1 }, end: null, steps: called });
  await answers(page, /\/v1\/executions\/[^/]+$/, () => run);
  await answers(page, /\/timeline\?/, () => ({ items: Array.from({ length: TURNS }, (_, index) => turn(index + 1)), next: null }));
  await page.evaluate((id) => history.pushState({}, "", `/executions/${id}`), ID);
  await page.reload();
  await page.getByRole("heading", { name: "Turn 1", exact: true }).waitFor();
  return TURNS * STEPS;
}

/** A graph of so many atoms in chains of fifty; says how many milliseconds it took to be drawn. */
export async function chained(page: Page, atoms: number): Promise<number> {
  const done = Math.floor(atoms / 5);
  const atom = (index: number) => ({ type: "atom", id: `a${index}`, title: `Atom ${index}`, within: "whole", after: index % 50 === 0 ? [] : [`a${index - 1}`], waits_for: [], is_leaf: true, standing: index < done ? "done" : "waiting", note: null, attempts: null });
  const parts = [{ ...atom(0), id: "whole", within: undefined, is_leaf: false, after: [] }, ...Array.from({ length: atoms }, (_, index) => atom(index))];
  await answers(page, /\/v1\/tasks\/[^/]+$/, () => ({ task_id: ID, status: "RUNNING", standing: "running", waits_for: [], goal: "Many", workspace: "/srv", created_at: "2026-11-18T09:00:00Z", attempts: 1, planned: true, result: null }));
  await answers(page, /\/graph$/, () => ({ task_id: ID, title: "Many", done, items: atoms, standing: "running", revision: 1, parts }));
  await page.evaluate((id) => history.pushState({}, "", `/tasks/${id}`), ID);
  const began = Date.now();
  await page.reload();
  await page.getByLabel(`The work: ${done} of ${atoms} items done`).waitFor();
  return Date.now() - began;
}
