// The rest of the house, tried where it is shown: gates, agents, documents, dead letters, and what the operator has set.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { faults } from "./stage/axe";
import { launched, visit } from "./stage/browser";
import { Served } from "./stage/served";

let served: Served;
let browser: Browser;

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start(), launched()]);
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
});

test("a dead letter is named as what it is, and settled by its own id", async () => {
  const { page, context } = await visit(browser, served, "/dead-letters");
  const id = "01a1ecae-a16b-7260-acce-7dd0eb7861c2";
  await page.route(/\/v1\/dead-letters\?/, (route) => route.fulfill({ json: { items: [{ message_id: id, kind: "task.start", queue: "executor", reason: "it failed too often" }], next: null } }));
  await page.reload();
  await page.locator(".house-list strong").getByText("task.start").waitFor();
  const settled = page.waitForRequest(/\/v1\/dead-letters\/.*\/retry$/);
  await page.getByRole("button", { name: "Try again" }).click();
  expect((await settled).url()).toContain(`/v1/dead-letters/${id}/retry`);
  await context.close();
});

test("a call against the gates", async () => {
  const { page, context } = await visit(browser, served, "/gates");
  await page.getByLabel(/What it is given/).fill('{"command": "rm old.txt"}');
  await page.getByRole("button", { name: "What would be said?" }).click();
  await page.getByRole("status").getByText("require approval").first().waitFor();
  expect(await faults(page)).toEqual([]);
  await context.close();
});

test("a pattern's document, with what is wrong where it is", async () => {
  const { page, context } = await visit(browser, served, "/patterns");
  await page.getByRole("button", { name: /Check one of your own/ }).click();
  await page.getByText("Nothing is wrong with it.").waitFor();
  await page.getByRole("textbox", { name: "Its document" }).fill("name: mine\nsteps: []\n");
  await page.getByRole("list", { name: "What is wrong with it" }).getByRole("button").first().waitFor();
  expect(await faults(page)).toEqual([]);
  await context.close();
});

test("an agent, which is started for a moment", async () => {
  const { page, context } = await visit(browser, served, "/agents");
  await page.getByText("Codex", { exact: true }).click();
  await page.getByRole("button", { name: "Test it" }).click();
  await page.getByRole("status").getByText("found").first().waitFor();
  await context.close();
});

test("what the operator has set, and nothing secret", async () => {
  const { page, context } = await visit(browser, served, "/settings");
  await page.getByText(/10,000,000 tokens/).waitFor();
  expect(await page.locator("main").innerText()).not.toContain(served.token);
  await context.close();
});
