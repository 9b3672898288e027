// The console as people use it: from a message to a deliverable, decisions by keyboard, two people at once, a server that goes away.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { armed, launched, PHONE, picture, visit } from "./stage/browser";
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

test("whoever has no token is asked for one, and comes to where the link leads", async () => {
  const { page, context } = await visit(browser, served, "/tasks?x=1", { isSignedIn: false });
  await page.getByLabel("Token").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("The server does not know this token").waitFor();
  await page.getByLabel("Token").fill(served.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  expect(page.url()).toContain("/tasks");
  expect(page.url()).not.toContain(served.token);
  // It is this tab's alone.
  const kept = await page.evaluate(() => JSON.stringify([localStorage, document.cookie]));
  expect(kept).not.toContain(served.token);
  await page.reload();
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("Who is there?").waitFor();
  expect(new URL(page.url()).pathname).toBe("/tasks");
  await context.close();
});

test("a token that is taken back leads to the door, and from there to where one was", async () => {
  const { page, context } = await visit(browser, served, "/agents", { isSignedIn: false });
  // For the first time only: what an init script puts there would be there again.
  await page.evaluate(() => sessionStorage.setItem("windlass.token", "taken-back"));
  await page.reload();
  await page.getByText("The token is good no more").waitFor();
  await page.getByLabel("Token").fill(served.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await context.close();
});

test("from a message to a plan, a yes, and what came of it", async () => {
  const { page, context, complaints, strangers } = await visit(browser, served, "/stream");
  await page.getByLabel("What you say").fill("hello");
  await page.keyboard.press("Enter");
  await page.getByText("Say what you would like done").waitFor();
  await page.getByLabel("What you say").fill("make a shop");
  await page.keyboard.press("Enter");
  await page.getByText("A planner thinks about it.").waitFor();
  await page.getByRole("link", { name: "decide in Review" }).click();
  await page.getByRole("heading", { name: "A shop for books" }).waitFor();
  await page.getByText("One page that lists the books, without a framework.").first().waitFor();
  expect(await page.getByText("$7.00").count()).toBe(1);
  await armed(page);
  await picture(page, "console-review");
  await page.keyboard.press("x");
  await page.getByText("Everything that a yes binds").waitFor();
  await armed(page);
  await page.keyboard.press("a");
  await page.getByRole("heading", { name: "A shop for books" }).waitFor({ state: "hidden" });
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByLabel("Work").getByText("verified", { exact: true }).waitFor();
  await page.getByLabel("Work").getByRole("link", { name: "make a shop" }).click();
  // Every item of it, as a graph.
  for (const item of ["data", "web", "launch"]) await page.getByLabel(/The work: 3 of 3/).getByText(item, { exact: true }).waitFor();
  expect([complaints, strangers]).toEqual([[], []]);
  await context.close();
});

test("what is of high risk takes a second step with another key", async () => {
  const task = await served.begun("Remove the old export");
  const card = await served.card("rm old.txt");
  const { page, context } = await visit(browser, served, `/review/${card}`, { viewport: PHONE });
  await page.getByText("<U+202E>").waitFor();
  await armed(page);
  await picture(page, "console-phone");
  await page.keyboard.press("a");
  await page.getByText("This is of high risk. Is it meant?").waitFor();
  await page.keyboard.press("a");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Approve …/ }).waitFor();
  expect((await served.ask<{ standing: string }>("GET", `/v1/approvals/${card}`)).standing).toBe("open");
  await page.keyboard.press("a");
  await page.keyboard.press("y");
  await served.at_last(`/v1/tasks/${task}`, ({ standing }: { standing: string }) => (standing === "completed" ? true : undefined));
  await context.close();
});

test("two people at once: the second is told, and nothing else takes the card's place", async () => {
  await served.begun("Remove the old export, again");
  const card = await served.card("rm old.txt");
  const { page, context } = await visit(browser, served, "/review");
  await page.waitForURL(`**/review/${card}`);
  await served.ask("POST", `/v1/approvals/${card}/decline`, { note: "not this one" });
  await page.getByText("It was declined.").waitFor();
  await context.close();
});

test("an answer that comes too late is said to be, and changes nothing", async () => {
  await served.begun("Remove the old export, a third time");
  const card = await served.card("rm old.txt");
  const { page, context } = await visit(browser, served, `/review/${card}`);
  // What happens elsewhere is not heard of here.
  await page.route("**/v1/events*", (route) => route.abort());
  await page.getByRole("button", { name: /^Decline/ }).click();
  await page.getByLabel(/Why not/).fill("no");
  await page.route("**/v1/approvals?*", (route) => route.abort());
  await served.ask("POST", `/v1/approvals/${card}/decline`, { note: "mine came first" });
  await page.keyboard.press("Control+Enter");
  await page.getByText(/was answered before|It was declined/).first().waitFor();
  await context.close();
});

test("a question is answered by a number and Enter", async () => {
  const task = await served.begun("Ask me what you need");
  const asked = await served.at_last("/v1/questions", ({ questions }: { questions: { request_id: string; task_id: string }[] }) => questions.find(({ task_id }) => task_id === task)?.request_id);
  const { page, context } = await visit(browser, served, `/review/${asked}`, { viewport: PHONE });
  await armed(page);
  await page.keyboard.press("2");
  expect(await page.getByRole("button", { name: "SQLite" }).getAttribute("aria-pressed")).toBe("true");
  await page.keyboard.press("Enter");
  await served.at_last(`/v1/tasks/${task}`, ({ standing }: { standing: string }) => (standing === "completed" ? true : undefined));
  await context.close();
});

test("a plan is sent back with what is different, and asked about again", async () => {
  const task = await served.begun("make a shop for plants", { planning: "wanted" });
  const card = await served.at_last("/v1/approvals", ({ approvals }: { approvals: { task_id: string; card: { card_id: string } }[] }) => approvals.find(({ task_id }) => task_id === task)?.card.card_id);
  const { page, context } = await visit(browser, served, `/review/${card}`);
  await armed(page);
  await page.keyboard.press("e");
  const document = page.getByRole("textbox", { name: "The plan's document" });
  await document.waitFor();
  const text = await document.inputValue();
  expect(text).toContain("title: A shop for books");
  await document.fill(text.replace("Three books, each with a title.", "Four plants, each with a name."));
  await page.getByText("Four plants, each with a name.").last().waitFor();
  await page.keyboard.press("Control+Enter");
  const again = await served.at_last("/v1/approvals", ({ approvals }: { approvals: { task_id: string; card: { card_id: string } }[] }) => approvals.find((one) => one.task_id === task && one.card.card_id !== card)?.card.card_id);
  expect(again).not.toBe(card);
  await served.ask("POST", `/v1/approvals/${again}/decline`, { note: "that was all" });
  await context.close();
});

test("a server that is killed and comes back is heard again, and nothing of what happened is missing", async () => {
  const { page, context } = await visit(browser, served, "/activity");
  await page.getByText("A task was taken in").first().waitFor();
  await served.kill();
  await page.getByText("The server is not heard.").waitFor();
  await served.begin();
  await served.begun("Write a note of what happened meanwhile");
  await page.getByText("Write a note of what happened meanwhile").first().waitFor();
  await page.getByText("The server is not heard.").waitFor({ state: "hidden" });
  await context.close();
});

test("what a task delivers is there to be read, seen and kept", async () => {
  const task = await served.begun("Write a report", { base_case: ["file: output/report.md"] });
  await served.at_last(`/v1/tasks/${task}`, ({ result }: { result: unknown }) => (result ? true : undefined));
  const { page, context, complaints } = await visit(browser, served, `/tasks/${task}`);
  await page.getByText("Three books were found.").waitFor();
  await page.getByText("output/dot.png").click();
  const picture = page.getByAltText("output/dot.png");
  await picture.waitFor();
  expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(8);
  await page.getByText("output/change.diff").click();
  await page.locator(".delivered .diff .comes").getByText("three").waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("what is being said is seen before it is a record, and can be stopped", async () => {
  const { page, context } = await visit(browser, served, "/tasks");
  await page.getByRole("button", { name: "New task …" }).click();
  await page.getByLabel("What is to be done").fill("Take your time");
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByLabel("Being printed").getByText("step 3").waitFor();
  await page.getByRole("button", { name: "Cancel …" }).click();
  await page.getByRole("button", { name: "Cancel the task" }).click();
  await page.getByText("cancelled", { exact: true }).first().waitFor();
  await context.close();
});

test("everything can be reached by keys alone", async () => {
  const { page, context } = await visit(browser, served, "/review");
  await page.getByRole("heading", { name: "Review" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByLabel("Go to or do", { exact: true }).last().fill("dead");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Dead letters" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  // However quickly the second key comes.
  await page.evaluate(() => ["g", "n"].forEach((key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))));
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await context.close();
});
