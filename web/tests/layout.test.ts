// What stands around every page: the palette, the keys, and what is said and where one is when another page is come to.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { faults } from "./stage/axe";
import { launched, PHONE, visit } from "./stage/browser";
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

test.each(["light", "dark"] as const)("the palette and the keys are for everybody, %s", async (colorScheme) => {
  const { page, context } = await visit(browser, served, "/review", { colorScheme });
  await page.getByRole("heading", { name: "Review" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to or do" }).waitFor();
  expect(await faults(page)).toEqual([]);
  // The choice that Enter takes is named to whoever does not see it.
  const chosen = async () => page.getByRole("combobox", { name: "Go to or do" }).evaluate((field) => document.getElementById(field.getAttribute("aria-activedescendant") ?? "")?.textContent);
  const first = await chosen();
  await page.keyboard.press("ArrowDown");
  expect([first, await chosen()].filter(Boolean)).toHaveLength(2);
  expect(await chosen()).not.toBe(first);
  await page.getByRole("combobox", { name: "Go to or do" }).fill("nothing is called this");
  await page.getByText("Nothing is called that.").waitFor();
  expect(await faults(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  expect(await faults(page)).toEqual([]);
  await context.close();
});

test("the palette finds tasks and executions that no page has read, and agents", async () => {
  const task = await served.begun("Write a note about a persimmon");
  await served.at_last(`/v1/tasks/${task}`, ({ result }: { result: unknown }) => (result ? true : undefined));
  const run = (await served.ask<{ executions: { execution_id: string }[] }>("GET", `/v1/tasks/${task}/executions`)).executions[0]?.execution_id ?? "";
  // As it is where there are more tasks than a page has.
  const { page, context, complaints } = await visit(browser, served, "/review", { before: (page) => page.route(/\/v1\/tasks\?/, (route) => route.fulfill({ json: { tasks: [], next: null } })) });
  await page.getByRole("heading", { name: "Review" }).waitFor();
  const goes = async (words: string, to: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to or do" }).fill(words);
    await page.getByRole("option").filter({ hasText: to }).click();
  };
  await goes("persimmon", "Write a note about a persimmon");
  await page.waitForURL(`**/tasks/${task}`);
  await goes(run, "Execution");
  await page.waitForURL(`**/executions/${run}`);
  await goes("codex", "Agent");
  await page.waitForURL("**/agents?agent=codex");
  await page.getByRole("button", { name: "Test it" }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("the palette begins what is new, and knows conversations by their words", async () => {
  const session = (await served.ask<{ session_id: string }>("POST", "/v1/sessions", { name: "called" })).session_id;
  await served.ask("POST", `/v1/sessions/${session}/messages`, { message: "hello to a kumquat" });
  const { page, context } = await visit(browser, served, "/review");
  await page.getByRole("heading", { name: "Review" }).waitFor();
  const goes = async (words: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to or do" }).fill(words);
    await page.getByRole("option", { selected: true }).filter({ hasText: words }).waitFor();
    await page.keyboard.press("Enter");
  };
  await goes("kumquat");
  await page.waitForURL(`**/stream/${session}`);
  await goes("New goal");
  await page.getByRole("dialog", { name: "New goal" }).getByRole("button", { name: "Back" }).click();
  await goes("New task");
  await page.getByRole("dialog", { name: "New task" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "New task" }).waitFor({ state: "hidden" });
  expect(new URL(page.url()).search).toBe("");
  await context.close();
});

test("on a phone as well, with everything that is one touch away", async () => {
  const { page, context } = await visit(browser, served, "/review", { viewport: PHONE });
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("link", { name: "Settings" }).waitFor();
  expect(await faults(page)).toEqual([]);
  await context.close();
});

test("where another page is come to, the focus is there and its name is said", async () => {
  const { page, context } = await visit(browser, served, "/review");
  await page.getByRole("heading", { name: "Review" }).waitFor();
  await page.getByRole("link", { name: "Tasks" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("status", { name: "Page" }).getByText("Tasks").waitFor();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("page");
  await context.close();
});

test("whoever signs out is nobody any more, in this tab", async () => {
  const { page, context } = await visit(browser, served, "/tasks", { isSignedIn: false });
  await page.getByLabel("Token").fill(served.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to or do" }).fill("sign out");
  await page.keyboard.press("Enter");
  await page.getByText("Who is there?").waitFor();
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  expect(await page.evaluate(async () => (await navigator.locks.query()).held?.length)).toBe(0);
  await page.reload();
  await page.getByText("Who is there?").waitFor();
  await context.close();
});

test("something that waits is told to the desktop while nobody looks, and what it says is not", async () => {
  const context = await browser.newContext({ permissions: ["notifications"] });
  await context.addInitScript((token) => {
    sessionStorage.setItem("windlass.token", token);
    const told: string[] = [];
    Object.assign(window, { told });
    class Notice {
      static permission = "granted";
      constructor(title: string, { body }: { body: string }) {
        told.push(`${title}: ${body}`);
      }
    }
    Object.assign(window, { Notification: Notice });
    Object.defineProperty(document, "visibilityState", { get: () => (window as never as { hidden?: boolean }).hidden === true ? "hidden" : "visible" });
  }, served.token);
  const page = await context.newPage();
  await page.goto(`${served.address}/review`);
  await page.getByText("Nothing waits for you.").waitFor();
  const hides = (page: Page, hidden: boolean) =>
    page.evaluate((hidden) => {
      Object.assign(window, { hidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await hides(page, true);
  await served.begun("Remove the old export, quietly");
  await page.waitForFunction(() => (window as never as { told: string[] }).told.length > 0);
  expect(await page.evaluate(() => (window as never as { told: string[] }).told)).toEqual(["Windlass: Something waits for your decision."]);
  // Another tab is looked at, which shows the same.
  const other = await context.newPage();
  await other.goto(`${served.address}/review`);
  await other.waitForFunction(async () => (await navigator.locks.query()).held?.some(({ name }) => name?.startsWith("windlass-looked-at-")));
  await served.begun("Remove the old export, in sight");
  await page.waitForFunction(() => document.title.startsWith("(2)"));
  await hides(other, true);
  await served.begun("Remove the old export, out of sight");
  await page.waitForFunction(() => (window as never as { told: string[] }).told.length > 1);
  expect(await page.evaluate(() => (window as never as { told: string[] }).told.length)).toBe(2);
  await context.close();
});

test("a browser that says one may show notices, and throws when one does, shows the console all the same", async () => {
  const { page, context, complaints } = await visit(browser, served, "/settings", { isSignedIn: false });
  await page.addInitScript((token) => {
    sessionStorage.setItem("windlass.token", token);
    Object.defineProperty(document, "visibilityState", { value: "hidden" });
    class Notice {
      static permission = "granted";
      constructor() {
        Object.assign(window, { tried: true });
        throw new TypeError("Illegal constructor");
      }
    }
    Object.assign(window, { Notification: Notice });
  }, served.token);
  await page.goto(`${served.address}/review`);
  await page.locator(".review").waitFor();
  await served.begun("Remove the old export, where nobody is told");
  await page.waitForFunction(() => (window as never as { tried?: boolean }).tried);
  await page.locator(".review").waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
