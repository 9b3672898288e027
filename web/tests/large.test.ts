// What is large: a hundred thousand steps, five thousand atoms, for which nobody waits for agents and the server's answers are made up; and
// an output of fifty megabytes and a turn of a thousand steps, which are real. How long things take is printed, and `make bench` judges it: others
// are at work on this machine. What is held to something is what makes it quick: how much is drawn, and how often the server is asked.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { launched, visit } from "./stage/browser";
import { CHAINS, drawnGraph, lines, type Shape, steps } from "./stage/large";
import { Served } from "./stage/served";

let served: Served;
let browser: Browser;

/** Twenty calls in each of fifty answers, no two of them alike. */
const THOUSAND = Array.from({ length: 50 }, (_, answer) => {
  const calls = Array.from({ length: 20 }, (_, call) => `        - { tool: glob, args: { pattern: "no-file-${answer}-${call}*" } }\n`).join("");
  return `    - when: { request: 'Look a thousand times' }\n      reply: Twenty more, the ${answer}th.\n      usage: { input: 10, output: 1 }\n      calls:\n${calls}`;
}).join("");
const EXECUTOR = `${THOUSAND}    - when: { request: 'Look a thousand times' }
      reply: All of them were looked for.
      usage: { input: 10, output: 1 }
      repeat: forever
    - when: { request: 'Print fifty megabytes' }
      calls: [ { tool: bash, args: { command: "yes 'a line of what was printed, and another' | head -c 52000000; echo; echo the very end" } } ]
`;
/** What is in sight, and a few around it. */
const DRAWN = 120;

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start({ executor: EXECUTOR }), launched()]);
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
});

const execution = async (task: string): Promise<string> => (await served.ask<{ executions: { execution_id: string }[] }>("GET", `/v1/tasks/${task}/executions`)).executions[0]?.execution_id ?? "";

/** How long frames take while the page is scrolled from top to end, and how many rows were there at most. */
const scrolled = (page: Page, rows = ".steps > li"): Promise<{ took: number[]; most: number }> =>
  page.evaluate(async (rows) => {
    const took: number[] = [];
    let most = 0;
    const height = document.documentElement.scrollHeight;
    let last = performance.now();
    for (let frame = 0; frame < 120; frame += 1) {
      window.scrollTo(0, (height * frame) / 120);
      await new Promise((done) => requestAnimationFrame(done));
      const now = performance.now();
      took.push(now - last);
      last = now;
      most = Math.max(most, document.querySelectorAll(rows).length);
    }
    return { took: took.sort((one, other) => one - other), most };
  }, rows);

test("a hundred thousand steps are scrolled through, and few of them are drawn", async () => {
  const { page, context } = await visit(browser, served, "/settings");
  expect(await steps(page)).toBe(100_000);
  const { took, most } = await scrolled(page);
  console.log(`100,000 steps: a frame takes ${took[60]?.toFixed(1)} ms in the middle, ${took[113]?.toFixed(1)} ms at the worst twentieth`);
  expect(most).toBeLessThan(DRAWN);
  // What was not measured before was guessed: the end is where it turns out to be.
  await page.waitForFunction(() => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelector(".steps > li:last-child")?.textContent?.includes("echo 1999");
  });
  await context.close();
});

test("a hundred thousand lines of Activity are scrolled through, and few of them are drawn", async () => {
  const { page, context, complaints } = await visit(browser, served, "/settings");
  await lines(page, 100_000);
  const { took, most } = await scrolled(page, ".activity > li");
  console.log(`100,000 lines: a frame takes ${took[60]?.toFixed(1)} ms in the middle, ${took[113]?.toFixed(1)} ms at the worst twentieth`);
  expect(most).toBeLessThan(DRAWN);
  await page.waitForFunction(() => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelector(".activity > li:last-child")?.textContent?.match(/goal 1(?!\d)/);
  });
  await page.getByText("That is where it began.").waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test.each([
  ["a hundred chains", CHAINS],
  ["one chain", (index: number) => (index === 0 ? [] : [`a${index - 1}`])],
  ["one fan", () => []],
] as [string, Shape][])("a graph of five thousand atoms in %s is drawn, as much of it as is in sight", async (shape, after) => {
  const { page, context, complaints } = await visit(browser, served, "/settings");
  console.log(`5,000 atoms in ${shape}: drawn after ${await drawnGraph(page, 5_000, after)} ms`);
  const first = page.locator(".react-flow__node-atom").first();
  await first.waitFor();
  expect(await page.locator(".react-flow__node").count()).toBeLessThan(1_000);
  await page.getByRole("button", { name: "Zoom In" }).click();
  await first.focus();
  await page.keyboard.press("Enter");
  await page.locator(".atom-details").waitFor();
  expect(complaints.filter((one) => !one.includes("404"))).toEqual([]);
  await context.close();
});

test("fifty megabytes that a command printed are shown by a piece, and their end is one step away", async () => {
  const task = await served.begun("Print fifty megabytes");
  await served.at_last(`/v1/tasks/${task}`, ({ result }: { result: unknown }) => (result ? true : undefined));
  const { page, context } = await visit(browser, served, `/executions/${await execution(task)}`);
  await page.locator("details.step").filter({ hasText: "bash" }).first().locator("summary").click();
  await page.getByRole("button", { name: "All of it …" }).click();
  const whole = page.getByLabel("The whole output");
  await whole.getByRole("button", { name: "End" }).click();
  await whole.getByText("the very end").waitFor();
  expect(await page.evaluate(() => document.body.innerText.length)).toBeLessThan(200_000);
  await context.close();
  // What floods is read slowly, so that it costs the machine little.
}, 600_000);

test("a turn of a thousand steps is one turn, from its first step to its last", async () => {
  const task = await served.begun("Look a thousand times");
  await served.at_last(`/v1/tasks/${task}`, ({ result }: { result: unknown }) => (result ? true : undefined));
  const run = await execution(task);
  const ended = await served.ask<{ result: { error_details?: unknown } }>("GET", `/v1/tasks/${task}`);
  expect(ended.result.error_details ?? null).toBeNull();
  const { items } = await served.ask<{ items: { continues?: boolean }[] }>("GET", `/v1/executions/${run}/timeline?limit=500`);
  expect(items.filter(({ continues }) => continues).length).toBeGreaterThan(5);
  const { page, context, complaints } = await visit(browser, served, `/executions/${run}`);
  const pages = new Set<string>();
  let asked = 0;
  page.on("request", (request) => {
    if (!request.url().includes("/timeline?")) return;
    pages.add(request.url());
    asked += 1;
  });
  await page.getByRole("heading", { name: "Turn 1", exact: true }).waitFor();
  const { took, most } = await scrolled(page);
  console.log(`1,000 real steps: a frame takes ${took[60]?.toFixed(1)} ms in the middle`);
  expect(most).toBeLessThan(DRAWN);
  await page.waitForFunction(() => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelector(".steps > li:last-child")?.textContent?.includes("The turn is over.");
  });
  // Its head stands once, and is far away by now.
  expect(await page.getByRole("heading", { name: "Turn 1", exact: true }).count()).toBe(0);
  await page.getByLabel("Find in its turns").fill("no-file-49-19");
  await page.getByText("All of its turns were searched.").waitFor();
  expect(await page.getByRole("heading", { name: "Turn 1", exact: true }).count()).toBe(1);
  // Each page of it was asked for once.
  expect(asked).toBe(pages.size);
  expect(complaints).toEqual([]);
  await context.close();
});

test("what happens is on the screen as it happens, and nobody asks for it", async () => {
  const { page, context } = await visit(browser, served, "/activity");
  await page.locator(".happened").first().waitFor();
  // Earlier ones may still be read; what is new is not.
  const asked: string[] = [];
  page.on("request", (request) => request.url().includes("/v1/activity") && !request.url().includes("cursor=") && asked.push(request.url()));
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
  expect(asked).toEqual([]);
  await context.close();
});
