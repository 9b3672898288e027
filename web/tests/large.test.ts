// What is large: a hundred thousand steps, five thousand atoms, an output of fifty megabytes. The server's answers are made up here, since
// nobody waits for agents to make them; how long frames take is printed and not judged, since that is the machine's doing as well.
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { launched, visit } from "./stage/browser";
import { Served } from "./stage/served";

let served: Served;
let browser: Browser;
const ID = "01a1ecae-a16b-7260-acce-7dd0eb7861c2";

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start(), launched()]);
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
});

const answers = (page: Page, what: RegExp, body: (route: Route) => unknown) => page.route(what, (route) => route.fulfill({ json: body(route) }));
const run = { execution_id: ID, lifecycle: "completed", activity: "idle", attention: "none", agent_id: "executor", model: "rehearsal", scope: { kind: "task", id: ID }, records: 1 };

/** How long frames take while the page is scrolled from top to end. */
const scrolled = (page: Page): Promise<number[]> =>
  page.evaluate(async () => {
    const took: number[] = [];
    const height = document.documentElement.scrollHeight;
    let last = performance.now();
    for (let frame = 0; frame < 120; frame += 1) {
      window.scrollTo(0, (height * frame) / 120);
      await new Promise((done) => requestAnimationFrame(done));
      const now = performance.now();
      took.push(now - last);
      last = now;
    }
    return took.sort((one, other) => one - other);
  });

test("a hundred thousand steps are scrolled through, and few of them are drawn", async () => {
  const { page, context } = await visit(browser, served, "/settings");
  const steps = Array.from({ length: 2_000 }, (_, index) => ({ step: "called", tool: "bash", call_id: `c${index}`, arguments: { command: `echo ${index}` }, result: "ok", status: "ok", duration_ms: 3 }));
  const turn = (number: number) => ({ turn: number, asked: [], began_at: "2026-11-18T09:00:00Z", last_at: "2026-11-18T09:00:00Z", cost: 0, model_calls: 1, usage: { input: 1, output: 1 }, end: null, steps });
  await answers(page, /\/v1\/executions\/[^/]+$/, () => run);
  await answers(page, /\/timeline\?/, () => ({ items: Array.from({ length: 50 }, (_, index) => turn(index + 1)), next: null }));
  await page.evaluate((id) => history.pushState({}, "", `/executions/${id}`), ID);
  await page.reload();
  await page.getByRole("heading", { name: "Turn 1", exact: true }).waitFor();
  const took = await scrolled(page);
  console.log(`100,000 steps: a frame takes ${took[60]?.toFixed(1)} ms in the middle, ${took[113]?.toFixed(1)} ms at the worst twentieth`);
  expect(await page.locator(".steps > li").count()).toBeLessThan(120);
  // What was not measured before was guessed: the end is where it turns out to be.
  await page.waitForFunction(() => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelector(".steps > li:last-child")?.textContent?.includes("echo 1999");
  });
  await context.close();
});

test("a graph of five thousand atoms is drawn, as much of it as is in sight", async () => {
  const { page, context } = await visit(browser, served, "/settings");
  const atom = (index: number) => ({ type: "atom", id: `a${index}`, title: `Atom ${index}`, within: "whole", after: index % 50 === 0 ? [] : [`a${index - 1}`], waits_for: [], is_leaf: true, standing: index < 900 ? "done" : "waiting", note: null, attempts: null });
  const parts = [{ ...atom(0), id: "whole", within: undefined, is_leaf: false, after: [] }, ...Array.from({ length: 5_000 }, (_, index) => atom(index))];
  await answers(page, /\/v1\/tasks\/[^/]+$/, () => ({ task_id: ID, status: "RUNNING", standing: "running", waits_for: [], goal: "Five thousand", workspace: "/srv", created_at: "2026-11-18T09:00:00Z", attempts: 1, planned: true, result: null }));
  await answers(page, /\/graph$/, () => ({ task_id: ID, title: "Five thousand", done: 900, items: 5_000, standing: "running", revision: 1, parts }));
  await page.evaluate((id) => history.pushState({}, "", `/tasks/${id}`), ID);
  const began = Date.now();
  await page.reload();
  await page.getByLabel("The work: 900 of 5000 items done").waitFor();
  console.log(`5,000 atoms: drawn after ${Date.now() - began} ms`);
  await page.getByRole("button", { name: "Zoom In" }).click();
  await context.close();
});

test("an output of fifty megabytes is shown by its beginning, and more of it when asked", async () => {
  const { page, context } = await visit(browser, served, "/settings");
  const result = "a line of what was printed, and another\n".repeat(1_300_000);
  await answers(page, /\/v1\/executions\/[^/]+$/, () => run);
  await answers(page, /\/timeline\?/, () => ({ items: [{ turn: 1, asked: [], began_at: "2026-11-18T09:00:00Z", last_at: "2026-11-18T09:00:00Z", cost: 0, model_calls: 1, usage: { input: 1, output: 1 }, end: null, steps: [{ step: "called", tool: "bash", call_id: "c", arguments: { command: "yes" }, result, status: "ok", duration_ms: 3 }] }], next: null }));
  await page.evaluate((id) => history.pushState({}, "", `/executions/${id}`), ID);
  await page.reload();
  await page.getByText("yes", { exact: true }).click();
  await page.getByRole("button", { name: /Show more \(52 MB left\)/ }).click();
  const shown = await page.evaluate(() => document.body.innerText.length);
  expect(shown).toBeLessThan(1_000_000);
  await page.getByRole("button", { name: /Show more/ }).waitFor();
  await context.close();
});

test("what happens is on the screen as it happens", async () => {
  const { page, context } = await visit(browser, served, "/activity");
  await page.getByText("That is where it began.").waitFor();
  const took: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const goal = `Write a note for round ${round}`;
    const seen = page.evaluate(
      (words) =>
        new Promise<number>((resolve) => {
          const look = () => document.body.innerText.includes(words) && (watcher.disconnect(), requestAnimationFrame(() => resolve(Date.now())));
          const watcher = new MutationObserver(look);
          watcher.observe(document.body, { childList: true, subtree: true, characterData: true });
        }),
      goal,
    );
    const task = await served.begun(goal);
    const at = (await served.ask<{ created_at: string }>("GET", `/v1/tasks/${task}`)).created_at;
    took.push((await seen) - Date.parse(at));
  }
  console.log(`from the event to the screen: ${took.join(", ")} ms`);
  await context.close();
});
