// The demo's objective as a person has it reached through the console: said in Stream, asked about, begun with its worst case in sight, one way
// given up for another, changed and steered on the way, over a server that dies in the midst of it. On the way it takes the pictures that the
// documents show, where SHOTS=docs asks for them.
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { armed, DESK, launched, picture, visit } from "./stage/browser";
import { scene } from "./stage/objective";
import { Served } from "./stage/served";

interface Executions {
  executions: { execution_id: string; lifecycle: string }[];
}

let served: Served;
let browser: Browser;

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start({ scene: scene() }), launched()]);
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
});

test("from a message to what was wanted, by way of a question, a yes, a way given up, a server that died, and two changes of mind", { timeout: 240_000 }, async () => {
  const { page, context, complaints, strangers } = await visit(browser, served, "/stream", { viewport: DESK });
  const say = page.getByLabel("What you say");
  await say.fill("hello");
  await page.keyboard.press("Enter");
  await page.getByText("What would you like to have done?").waitFor();

  // An objective is said, and a planner asks.
  await page.getByLabel("To").selectOption({ label: "a planner, who agrees on an objective with you" });
  await say.fill("The text tools work, and their suite says so");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "answer in Review" }).click();
  await page.getByRole("heading", { name: "Which shell does it run in?" }).waitFor();
  await armed(page);
  await page.keyboard.press("1");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Which shell does it run in?" }).waitFor({ state: "hidden" });

  // It begins with everything in sight that a yes binds.
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  const work = page.getByLabel("Work", { exact: true });
  await work.getByText("agreed", { exact: true }).waitFor();
  await work.getByRole("button", { name: "Start …" }).click();
  const start = page.getByRole("dialog", { name: "Start the task" });
  await start.getByText("with-awk", { exact: true }).first().waitFor();
  await start.getByText("sh tests/run.sh").first().waitFor();
  expect(await start.getByText("$5.50").count()).toBeGreaterThan(0);
  await picture(page, "console-start");
  // Nothing of it reaches beyond its folder: one yes is enough.
  await start.getByRole("button", { name: "Start it", exact: true }).click();
  await start.waitFor({ state: "hidden" });
  await work.getByRole("link", { name: /The text tools work/ }).click();

  // The first way fails, the second is taken.
  const graph = page.getByLabel(/^The work: \d of \d items done/);
  await graph.getByText("title: with-awk").waitFor();
  await page.getByText("given up", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Fit View" }).click();
  await picture(page, "console-task");

  // The server dies in the midst of it, and comes back.
  const task = page.url().split("/tasks/")[1]?.slice(0, 36) ?? "";
  await served.kill();
  await page.getByText("The server is not heard.").waitFor();
  await served.begin();
  await page.getByText("The server is not heard.").waitFor({ state: "hidden" });

  // Nobody wants music any more.
  await graph.getByText("music", { exact: true }).click();
  const music = page.getByLabel("About music");
  await music.getByRole("button", { name: "Drop it …" }).click();
  const redirect = page.getByRole("dialog", { name: "Redirect" });
  await redirect.getByText(/interrupted/).waitFor();
  await picture(page, "console-redirect");
  const sentAway = new Set((await served.ask<Executions>("GET", `/v1/tasks/${task}/executions`)).executions.map(({ execution_id: id }) => id));
  await redirect.getByRole("button", { name: "Change it" }).click();
  await redirect.waitFor({ state: "hidden" });
  await graph.getByText("music", { exact: true }).waitFor({ state: "hidden" });

  // Whoever draws the banner is told with which words, once somebody is at it again.
  await served.at_last(`/v1/tasks/${task}/executions`, ({ executions }: Executions) => executions.find((one) => one.lifecycle === "running" && !sentAway.has(one.execution_id)));
  const steer = page.getByLabel("What you say");
  await steer.fill("The banner is to say MADE BY HAND");
  await page.getByRole("button", { name: "Say it" }).click();
  await page.getByText("It was kept, and will be heard.").waitFor();
  await served.at_last(`/v1/tasks/${task}`, ({ result }: { result: unknown }) => (result ? true : undefined));
  await page.getByText("verified", { exact: true }).first().waitFor();
  await page.getByRole("heading", { name: "What came of it" }).waitFor();
  const delivered = (place: Page | Locator) => place.locator(".delivered").filter({ hasText: "parts/banner.md" }).getByText("It says MADE BY HAND, on every shell:");
  await delivered(page).waitFor();

  // In the conversation stands what came of it.
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByLabel("Work", { exact: true }).getByText("verified", { exact: true }).waitFor();
  await delivered(page.getByLabel("Work", { exact: true })).waitFor();
  await picture(page, "console-stream");
  expect(served.file("parts/title.sh")).toContain("awk");
  expect(served.file("parts/banner.sh")).toContain("MADE BY HAND");
  expect(served.file("parts/music.sh")).toBeUndefined();
  // Breaking off of connections is what a server's death is.
  expect([complaints.filter((one) => !one.includes("ERR_")), strangers]).toEqual([[], []]);
  await context.close();
});
