// What the console costs, measured in a real browser and left as JSON for `make bench`. It judges nothing: a test only because that is how
// programs of this folder are run.
import { mkdirSync, writeFileSync } from "node:fs";

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";

import { launched, visit } from "../tests/stage/browser";
import { drawnGraph, steps } from "../tests/stage/large";
import { Served } from "../tests/stage/served";

const ROUNDS = 40;
const ATOMS = 5_000;
const FRAMES = 120;

let served: Served;
let browser: Browser;
const found: Record<string, unknown> = {};

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start(), launched()]);
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
  mkdirSync("dist", { recursive: true });
  writeFileSync("dist/figures.json", `${JSON.stringify(found)}\n`);
});

const spread = (values: number[]) => {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { median: at(0.5), p95: at(0.95) };
};

test("the first page", async () => {
  const { page, context } = await visit(browser, served, "/review");
  await page.getByRole("heading", { name: "Review" }).waitFor();
  const [bytes, ms] = await page.evaluate(() => {
    const all = performance.getEntriesByType("navigation").concat(performance.getEntriesByType("resource")) as PerformanceResourceTiming[];
    return [all.filter(({ initiatorType }) => initiatorType !== "fetch").reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0), performance.now()] as const;
  });
  found.first_load_kb = bytes / 1000;
  found.first_page_ms = ms;
  await context.close();
});

test("from an event to its frame", async () => {
  const { page, context } = await visit(browser, served, "/activity");
  await page.getByText("That is where it began.").waitFor();
  const end = new AbortController();
  const listener = await fetch(`${served.address}/v1/events`, { headers: { Authorization: `Bearer ${served.token}` }, signal: end.signal });
  const pieces = listener.body?.pipeThrough(new TextDecoderStream()).getReader();
  const heard: number[] = [];
  const seen: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const goal = `Write a note for round ${round}.`;
    const drawn = page.evaluate(drawnWith, goal);
    await served.begun(goal);
    let event: string | undefined;
    for (let text = ""; event === undefined; event = text.split("\n\n").slice(0, -1).find((one) => one.includes(goal))) text += (await pieces?.read())?.value ?? "";
    const now = Date.now();
    const at = Date.parse((JSON.parse(event.slice(event.indexOf("data: ") + 6)) as { at: string }).at);
    heard.push(now - at);
    seen.push((await drawn) - at);
  }
  end.abort();
  Object.assign(found, { pixel_ms: spread(seen), heard_ms: spread(heard) });
  await context.close();
});

/** In the page: the moment of the frame in which these words are first there. */
function drawnWith(words: string): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      if (!document.body.textContent?.includes(words)) return;
      watcher.disconnect();
      requestAnimationFrame(() => resolve(Date.now()));
    };
    const watcher = new MutationObserver(look);
    watcher.observe(document.body, { childList: true, subtree: true, characterData: true });
  });
}

test("frames while what is long is scrolled", async () => {
  const { page, context } = await visit(browser, served, "/settings");
  found.items = await steps(page);
  found.frame_ms = spread(await scrolled(page));
  const { page: empty, context: another } = await visit(browser, served, "/settings");
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await empty.evaluate((height) => document.body.replaceChildren(Object.assign(document.createElement("div"), { style: `height: ${height}px` })), height);
  found.empty_frame_ms = spread(await scrolled(empty));
  await Promise.all([context.close(), another.close()]);
});

const scrolled = (page: Page): Promise<number[]> =>
  page.evaluate(async (frames) => {
    const took: number[] = [];
    const height = document.documentElement.scrollHeight;
    let last = performance.now();
    for (let frame = 0; frame < frames; frame += 1) {
      window.scrollTo(0, (height * frame) / frames);
      await new Promise((done) => requestAnimationFrame(done));
      const now = performance.now();
      took.push(now - last);
      last = now;
    }
    return took;
  }, FRAMES);

test("a large graph", async () => {
  const { page, context } = await visit(browser, served, "/settings");
  found.atoms = ATOMS;
  found.graph_ms = await drawnGraph(page, ATOMS);
  await context.close();
});
