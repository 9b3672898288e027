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
  const [id, other] = ["01a1ecae-a16b-7260-acce-7dd0eb7861c2", "01a1ecae-a16b-7260-acce-7dd0eb7861c3"];
  const letter = (id: string, kind: string) => ({ message_id: id, kind, queue: "executor", reason: "it failed too often" });
  const { page, context } = await visit(browser, served, "/dead-letters", {
    before: (page) => page.route(/\/v1\/dead-letters\?/, (route) => route.fulfill({ json: route.request().url().includes("cursor=") ? { items: [letter(other, "task.stop")], next: null } : { items: [letter(id, "task.start")], next: "2" } })),
  });
  await page.locator(".house-list strong").getByText("task.start").waitFor();
  const settled = page.waitForRequest(/\/v1\/dead-letters\/.*\/retry$/);
  await page.getByRole("button", { name: "Try again" }).click();
  expect((await settled).url()).toContain(`/v1/dead-letters/${id}/retry`);
  // The list goes on, and what is thrown away is asked about once more.
  await page.getByRole("button", { name: "More", exact: true }).last().click();
  await page.locator(".house-list > li").filter({ hasText: "task.stop" }).getByRole("button", { name: "Throw away …" }).click();
  const dialog = page.getByRole("dialog", { name: "Throw it away" });
  await dialog.getByRole("button", { name: "Back" }).click();
  await dialog.waitFor({ state: "hidden" });
  const dropped = page.waitForRequest(/\/v1\/dead-letters\/.*\/drop$/);
  await page.locator(".house-list > li").filter({ hasText: "task.stop" }).getByRole("button", { name: "Throw away …" }).click();
  await dialog.getByRole("button", { name: "Throw it away" }).click();
  expect((await dropped).url()).toContain(`/v1/dead-letters/${other}/drop`);
  await context.close();
});

test("a goal is looked at, rests, goes on and is removed", async () => {
  await served.ask("POST", "/v1/schedules", { document: "---\nid: green\ntype: goal\ntitle: Keep it green\nschedule: \"0 6 * * 1-5\"\nverify: [{file: old.txt}]\n---\n# What to do\nKeep it green.\n" });
  const { page, context, complaints } = await visit(browser, served, "/schedules");
  await page.getByText("Nobody has looked at it yet.").waitFor();
  await page.getByText("What it is: Keep it green").click();
  await page.getByText("old.txt exists").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await page.getByRole("button", { name: "Remove …" }).click();
  await page.getByRole("dialog", { name: "Remove it" }).getByRole("button", { name: "Remove it" }).click();
  await page.getByText("Nothing is due.").waitFor();
  expect(complaints).toEqual([]);
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
