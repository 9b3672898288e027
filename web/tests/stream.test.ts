// Stream and Activity, and how they hear: many tabs, a laptop that was away, words that go where they were meant to.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

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

const opened = async (name: string) => (await served.ask<{ session_id: string }>("POST", "/v1/sessions", { name })).session_id;
const said = (session: string, message: string) => served.ask("POST", `/v1/sessions/${session}/messages`, { message });
const answered = (session: string, words: string) =>
  served.at_last(`/v1/activity?session=${session}&kinds=turn.ended&limit=5`, ({ records }: { records: { data: unknown }[] }) => (JSON.stringify(records).includes(words) ? true : undefined));

test("eight tabs hold one connection, and each hears what happens and gets answers", async () => {
  const { page: first, context } = await visit(browser, served, "/activity");
  await first.getByRole("heading", { name: "Activity" }).waitFor();
  let listening = 0;
  const count = (page: Page) => page.on("request", (request) => (listening += Number(request.url().includes("/v1/events"))));
  const tabs = [first];
  for (const path of ["/stream", "/activity", "/tasks", "/review", "/activity", "/stream", "/activity"]) {
    const page = await context.newPage();
    count(page);
    await page.goto(served.address + path);
    await page.locator("h1").first().waitFor();
    tabs.push(page);
  }
  const goal = "Write a note that eight tabs hear of";
  const task = await served.begun(goal);
  for (const page of tabs) if (page.url().endsWith("/activity")) await page.getByText(goal).first().waitFor();
  for (const page of tabs) {
    const asked = await page.evaluate(async ([path, token]) => (await fetch(path!, { headers: { Authorization: `Bearer ${token}` } })).status, [`/v1/tasks/${task}`, served.token]);
    expect(asked).toBe(200);
  }
  expect(listening).toBe(0);
  // The one that listened goes: another one goes on from where it was.
  await first.close();
  const later = "Write a note that seven tabs hear of";
  await served.begun(later);
  for (const page of tabs.slice(1)) if (page.url().endsWith("/activity")) await page.getByText(later).first().waitFor();
  expect(listening).toBe(1);
  await context.close();
});

test("a tab with another token has a connection of its own", async () => {
  const { page, context } = await visit(browser, served, "/activity");
  await page.getByRole("heading", { name: "Activity" }).waitFor();
  const names = await page.evaluate(async () => (await navigator.locks.query()).held?.map(({ name }) => name) ?? []);
  // One for listening, and one that says that it is looked at.
  expect(names.map((name) => name?.replace(/[0-9a-f]{24}$/, "…")).sort()).toEqual(["windlass-events-…", "windlass-looked-at-…"]);
  expect(names.join()).not.toContain(served.token);
  await context.close();
});

test("a laptop that was away hears what happened meanwhile, once it is back", async () => {
  const { page, context } = await visit(browser, served, "/activity");
  await page.getByRole("heading", { name: "Activity" }).waitFor();
  await page.getByText("That is where it began.").waitFor();
  // A connection that is held open would outlast it: it is cut, as sleep does.
  await context.setOffline(true);
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  await page.getByText("The server is not heard.").waitFor();
  const goal = "Write a note while nobody listens";
  await served.begun(goal);
  await context.setOffline(false);
  await page.getByText(goal).first().waitFor();
  await page.getByText("The server is not heard.").waitFor({ state: "hidden" });
  await context.close();
});

test("a page that is opened while the server is away is there once it is back", async () => {
  const { page, context } = await visit(browser, served, "/settings");
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.route("**/v1/**", (route) => route.abort());
  await page.evaluate(() => history.pushState({}, "", "/activity"));
  await page.evaluate(() => window.dispatchEvent(new PopStateEvent("popstate")));
  await page.getByText("The server cannot be reached.").first().waitFor();
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  await page.getByText("The server is not heard.").waitFor();
  await page.unroute("**/v1/**");
  await page.getByText("A task was taken in").first().waitFor();
  await context.close();
});

test("the newest conversation is the one in which something was said last, and one's words stay where they were written", async () => {
  const [one, other] = [await opened("one"), await opened("other")];
  for (const [session, words] of [[one, "hello from one"], [other, "hello from the other"], [one, "hello again"]] as const) {
    await said(session, words);
    await answered(session, "Hello.");
  }
  const { page, context } = await visit(browser, served, "/stream");
  await page.waitForURL(`**/stream/${one}`);
  await page.getByLabel("What you say").fill("for one alone");
  await page.getByLabel("Conversation", { exact: true }).first().selectOption(other);
  await page.waitForURL(`**/stream/${other}`);
  await page.locator(".story").getByText("hello from the other").waitFor();
  expect(await page.getByLabel("What you say").inputValue()).toBe("");
  await page.goBack();
  await page.waitForURL(`**/stream/${one}`);
  await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>("textarea")?.value === "for one alone");
  await context.close();
});

test("a conversation is opened without what happened elsewhere", async () => {
  const session = await opened("short");
  await said(session, "hello in short");
  await answered(session, "Hello.");
  const { page, context } = await visit(browser, served, "/settings");
  const asked: string[] = [];
  page.on("request", (request) => request.url().includes("/v1/") && asked.push(new URL(request.url()).pathname + new URL(request.url()).search));
  await page.goto(`${served.address}/stream/${session}`);
  await page.locator(".story").getByText("hello in short").waitFor();
  expect(asked.filter((url) => url.includes("after=0"))).toEqual([]);
  const read = asked.filter((url) => url.startsWith("/v1/activity") && url.includes(session));
  expect(read.length).toBeGreaterThan(0);
  // And nothing twice.
  expect(asked.filter((url) => url.startsWith("/v1/sessions?"))).toHaveLength(1);
  await context.close();
});

test("a task at work hears what is said straight to it", async () => {
  const session = await opened("steering");
  await said(session, "Take your time, and make notes");
  const task = await served.at_last(`/v1/sessions/${session}`, ({ tasks }: { tasks: { task_id: string }[] }) => tasks[0]?.task_id);
  const card = await served.at_last("/v1/approvals", ({ approvals }: { approvals: { task_id: string; card: { card_id: string } }[] }) => approvals.find(({ task_id }) => task_id === task)?.card.card_id);
  await served.ask("POST", `/v1/approvals/${card}/approve`, { confirmed: true });
  const { page, context } = await visit(browser, served, `/stream/${session}`);
  await page.getByLabel("Being printed").getByText("step 3").waitFor();
  await page.getByLabel(/^To/).selectOption(task);
  await page.getByLabel("What you say").fill("use kumquats, not spaces");
  const [answer] = await Promise.all([page.waitForResponse((response) => response.request().method() === "POST"), page.keyboard.press("Enter")]);
  // To the task, and not to the conversation.
  expect([answer.status(), new URL(answer.url()).pathname]).toEqual([202, `/v1/tasks/${task}/messages`]);
  expect(answer.request().postDataJSON()).toEqual({ message: "use kumquats, not spaces" });
  await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>("textarea")?.value === "");
  await served.ask("POST", `/v1/tasks/${task}/cancel`, {});
  await context.close();
});

test("work that says nothing is seen as well: how far it is, and what was begun last", async () => {
  const session = await opened("silent");
  const task = await served.begun("Without a word, for a long time", { session_id: session });
  const planned = await served.begun("Two files and a third", { session_id: session, planning: "aligning" });
  await served.at_last(`/v1/tasks/${planned}`, ({ standing }: { standing: string }) => (standing === "agreed" ? true : undefined));
  await served.ask("POST", `/v1/tasks/${planned}/start`, {});
  const { page, context, complaints } = await visit(browser, served, `/stream/${session}`);
  const work = (goal: string) => page.getByRole("region", { name: "Work" }).filter({ hasText: goal });
  // Nothing of it is said or printed.
  await work("Without a word").getByText("bash began").waitFor();
  expect(await work("Without a word").getByLabel("Being printed").count()).toBe(0);
  await work("Two files and a third").getByText("1 of 3 done").waitFor();
  await work("Two files and a third").getByRole("heading", { name: /^b executor/ }).waitFor();
  for (const one of [task, planned]) await served.ask("POST", `/v1/tasks/${one}/cancel`, {});
  await page.getByText("1 of 3 done").waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
  await context.close();
});

test("files go with what is said, and what cannot go says why", async () => {
  const session = await opened("files");
  await said(session, "hello before files");
  await answered(session, "Hello.");
  const { page, context } = await visit(browser, served, `/stream/${session}`);
  await page.getByLabel("What you say").fill("hello with a file");
  const files = page.getByLabel("Attach files");
  await files.setInputFiles([{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("a quince") }, { name: "a.bin", mimeType: "application/octet-stream", buffer: Buffer.from([255, 254]) }]);
  await page.getByText("It is neither text nor a picture").waitFor();
  await page.getByText("8 B").waitFor();
  expect(await page.getByRole("button", { name: "Say it" }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Leave out a.bin" }).click();
  await page.getByRole("button", { name: "Say it" }).click();
  await page.getByLabel("Files that go with it").waitFor({ state: "detached" });
  const created = await served.at_last("/v1/activity?kinds=task.created&words=quince", ({ records }: { records: { data: { attachments: { name: string }[] } }[] }) => records[0]?.data.attachments);
  expect(created.map(({ name }) => name)).toEqual(["notes.txt"]);
  await context.close();
});

test("a line opens its record, filters look through everything, and the state of the audit says of when it is", async () => {
  const goal = "Write a note about a kumquat";
  const task = await served.begun(goal);
  await served.at_last(`/v1/tasks/${task}`, ({ result }: { result: unknown }) => (result ? true : undefined));
  const { page, context, complaints } = await visit(browser, served, "/activity");
  await page.getByLabel("Find").fill("kumquat");
  const line = page.getByRole("button", { name: /A task was taken in/ }).first();
  await line.click();
  await page.getByText(/^record \d+/).waitFor();
  await page.getByRole("link", { name: /^Task / }).first().waitFor();
  await page.getByLabel("Find").fill("kumquat nobodyeversaidthis");
  await page.getByText("Nothing like that happened.").waitFor();
  await page.getByLabel("Find").fill("");
  await page.getByRole("button", { name: "Conversations" }).click();
  await page.getByText("Somebody said").first().waitFor();
  expect(await page.getByText("A task was taken in").count()).toBe(0);
  await page.getByText("audit intact").waitFor();
  await page.getByText(/as of/).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
