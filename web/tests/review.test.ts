// Review, answer by answer: what each of them sends, what none of them sends, and what stands on a card that is decided or never was.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { faults } from "./stage/axe";
import { armed, launched, visit } from "./stage/browser";
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

interface Approval {
  task_id: string;
  standing: string;
  decision: { verdict: string; note: string; conditions: string[]; confirmed: boolean } | null;
  card: { card_id: string; risk_level: string; details: Record<string, unknown> };
}

const looked = (card: string) => served.ask<Approval>("GET", `/v1/approvals/${card}`);
const decided = (card: string) => served.at_last<Approval>(`/v1/approvals/${card}`, (one: Approval) => (one.standing === "open" ? undefined : one));
const cardOf = (task: string): Promise<string> =>
  served.at_last("/v1/approvals", ({ approvals }: { approvals: Approval[] }) => approvals.find(({ task_id }) => task_id === task)?.card.card_id);
const asks = async (goal: string): Promise<string> => cardOf(await served.begun(goal));
const decline = (card: string) => served.ask("POST", `/v1/approvals/${card}/decline`, { note: "that was all" });

/** Cards that nobody has to make an agent ask for. */
function made(count: number, more: object = {}, details: object = { tool: "bash", arguments: { command: "ls" }, argv: ["bash", "-c", "ls"], cwd: "" }): Approval[] {
  return Array.from({ length: count }, (_, index) => ({
    task_id: "01a1ecae-a16b-7260-acce-7dd0eb7861c2", standing: "open", asked_at: new Date(1_700_000_000_000 + index).toISOString(), whose: null, decision: null,
    card: {
      card_id: `01a1ecae-a16b-7260-acce-${String(index).padStart(12, "0")}`, intent: `number ${index}`, risk_level: "low", rationale: "", consequence_label: "it is done", affected_items: [],
      details: details as Record<string, unknown>, expires_at: Date.now() + 3_600_000, binds: { scope: "single_step", max_executions: 1 }, ...more,
    },
  })) as never;
}

/** The page is told of these, and what it answers is kept. */
async function plays(page: Page, approvals: Approval[], path = "/review"): Promise<{ path: string; body: Record<string, unknown> }[]> {
  const said: { path: string; body: Record<string, unknown> }[] = [];
  await page.route(/\/v1\/approvals\?/, (route) => route.fulfill({ json: { approvals: approvals.filter(({ card }) => !said.some(({ path }) => path.includes(card.card_id))), next: null } }));
  await page.route(/\/v1\/approvals\/[^/]+\/(approve|edit|decline)$/, (route) => {
    said.push({ path: new URL(route.request().url()).pathname, body: route.request().postDataJSON() as Record<string, unknown> });
    return route.fulfill({ json: { card_id: "x", task_id: "x", verdict: "approved" } });
  });
  await page.goto(served.address + path);
  return said;
}

describe("by keyboard", () => {
  test("a call is declined with words, which a yes does not take with it", async () => {
    const card = await asks("Remove the old export");
    const { page, context } = await visit(browser, served, `/review/${card}`);
    await armed(page);
    await page.keyboard.press("d");
    await page.keyboard.type("because it is needed");
    await page.keyboard.press("Escape");
    await page.keyboard.press("a");
    await page.getByText(/You have looked at it for \d+ s/).waitFor();
    expect(await faults(page)).toEqual([]);
    await page.keyboard.press("y");
    expect((await decided(card)).decision).toMatchObject({ verdict: "approved", note: "", confirmed: true });
    await context.close();
    const other = await asks("Remove the old export, but not this one");
    const second = await visit(browser, served, `/review/${other}`);
    await armed(second.page);
    await second.page.keyboard.press("d");
    await second.page.keyboard.type("because it is needed");
    await second.page.keyboard.press("Control+Enter");
    expect((await decided(other)).decision).toMatchObject({ verdict: "declined", note: "because it is needed" });
    await second.context.close();
  });

  test("a call is sent back, and never without words", async () => {
    const card = await asks("Remove the old export, and more");
    const { page, context } = await visit(browser, served, `/review/${card}`);
    await armed(page);
    await page.keyboard.press("e");
    await page.keyboard.press("Control+Enter");
    await page.keyboard.type("keep a copy");
    await page.keyboard.press("Control+Enter");
    expect((await decided(card)).decision).toMatchObject({ verdict: "edit_requested", note: "keep a copy" });
    // Whoever comes to it now reads who said what.
    await page.goto(`${served.address}/review/${card}`);
    await page.getByText("It was sent back.").waitFor();
    await page.getByText("keep a copy").waitFor();
    await context.close();
  });

  test("a yes takes words and conditions with it, over the second step", async () => {
    const card = await asks("Remove the old export, carefully");
    const { page, context } = await visit(browser, served, `/review/${card}`);
    await armed(page);
    await page.keyboard.press("n");
    await page.keyboard.type("thank you");
    await page.getByLabel(/On condition/).fill("only once\n\nand quietly");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Beside it: only once; and quietly; thank you").waitFor();
    await page.keyboard.press("y");
    expect((await decided(card)).decision).toMatchObject({ verdict: "conditional", note: "thank you", conditions: ["only once", "and quietly"] });
    await context.close();
  });

  test("what comes up under the fingers is not answered by them, and has the focus", async () => {
    const { page, context } = await visit(browser, served, "/review");
    const said = await plays(page, made(3));
    await page.getByRole("heading", { name: "number 0" }).waitFor();
    await armed(page);
    // Pressed again the moment that the next card is drawn, sooner than any hand.
    await page.evaluate(() => {
      let last = document.getElementById("intent")?.textContent;
      new MutationObserver(() => {
        const now = document.getElementById("intent")?.textContent;
        if (now === undefined || now === last) return;
        last = now;
        requestAnimationFrame(() => requestAnimationFrame(() => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true, cancelable: true }))));
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await page.keyboard.press("a");
    await page.getByRole("heading", { name: "number 1" }).waitFor();
    await page.getByRole("status").getByText("Approved: number 0").waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("intent");
    await page.getByText("Now: low risk. number 1").waitFor({ state: "attached" });
    await armed(page);
    expect(said).toHaveLength(1);
    await page.keyboard.press("a");
    await page.getByRole("heading", { name: "number 2" }).waitFor();
    expect(said).toHaveLength(2);
    await context.close();
  });

  test("letters do nothing where they are switched off", async () => {
    const { page, context } = await visit(browser, served, "/settings");
    const said = await plays(page, made(2), "/settings");
    await page.getByLabel(/Single letters and digits/).uncheck();
    await page.getByRole("link", { name: /Review/ }).first().click();
    await armed(page);
    await page.keyboard.press("a");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to or do" }).waitFor();
    expect(said).toHaveLength(0);
    await context.close();
  });
});

test("what cannot be undone says so, and asks twice", async () => {
  const { page, context } = await visit(browser, served, "/review");
  const said = await plays(page, made(1, { risk_level: "irreversible" }));
  await page.getByText("cannot be undone", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Approve …/ }).click();
  await page.getByText("This cannot be undone. Is it meant?").waitFor();
  expect(said).toHaveLength(0);
  await page.getByRole("button", { name: "Yes, approve it" }).click();
  await page.locator(".decide").waitFor({ state: "hidden" });
  // What became of it is said also where nothing else waits.
  await page.getByRole("status").getByText("Approved: number 0").waitFor();
  expect(said[0]).toMatchObject({ body: { confirmed: true } });
  await context.close();
});

test("help is given as its card says: words beside the yes, and no way to give the item up unawares", async () => {
  const { page, context } = await visit(browser, served, "/review");
  const said = await plays(page, made(1, {}, { kind: "help", about: "one_more", attempt: 2, item: { id: "a", title: "A" } }));
  await armed(page);
  await page.keyboard.press("e");
  expect(await page.getByRole("button", { name: /Not like this/ }).count()).toBe(0);
  await page.keyboard.press("a");
  await page.keyboard.type("look into the log");
  await page.keyboard.press("Control+Enter");
  await page.locator(".decide").waitFor({ state: "hidden" });
  expect(said).toMatchObject([{ path: expect.stringContaining("/approve") as string, body: { note: "look into the log", conditions: [] } }]);
  await context.close();
});

test("everything that waits can be reached, and the tab counts it", async () => {
  const { page, context } = await visit(browser, served, "/review");
  await plays(page, made(75));
  const list = page.getByRole("complementary", { name: "Up next" });
  await list.getByRole("link").first().waitFor();
  await page.waitForFunction(() => document.title === "(75) Review · Windlass");
  expect(await list.getByRole("link").count()).toBe(30);
  await page.getByRole("button", { name: "Show more of the 44 others" }).click();
  await page.getByRole("button", { name: "Show more of the 14 others" }).click();
  await list.getByRole("link", { name: "number 74" }).click();
  await page.getByRole("heading", { name: "number 74" }).waitFor();
  await context.close();
});

test("whoever follows a notice of the desktop comes to what waits", async () => {
  const { page, context } = await visit(browser, served, "/settings", { isSignedIn: false });
  await page.addInitScript((token) => {
    sessionStorage.setItem("windlass.token", token);
    Object.defineProperty(document, "visibilityState", { value: "hidden" });
    class Notice {
      static permission = "granted";
      onclick: (() => void) | undefined;
      constructor(_: string, readonly options: { body: string }) {
        (window as never as { notice: Notice }).notice = this;
      }
    }
    Object.assign(window, { Notification: Notice });
  }, served.token);
  await page.reload();
  await page.getByText(/10,000,000 tokens/).waitFor();
  const card = await asks("Remove the old export, unseen");
  await page.waitForFunction(() => (window as never as { notice?: object }).notice !== undefined);
  const said = await page.evaluate(() => {
    const { notice } = window as never as { notice: { options: { body: string }; onclick(): void } };
    notice.onclick();
    return notice.options.body;
  });
  expect(said).toBe("Something waits for your decision.");
  await page.waitForURL(`**/review/${card}`);
  await decline(card);
  await context.close();
});

test("questions beyond the first page are counted and found", async () => {
  const { page, context } = await visit(browser, served, "/review");
  const question = (index: number) => ({ request_id: `01a1ecae-a16b-7260-acce-${String(index).padStart(12, "0")}`, task_id: "x", standing: "open", asked_at: new Date(1_700_000_000_000 + index).toISOString(), whose: null, answered: null, asked: { question: `question ${index}` } });
  await page.route(/\/v1\/questions\?/, (route) => {
    const isSecond = route.request().url().includes("cursor=");
    return route.fulfill({ json: { questions: isSecond ? [question(200)] : Array.from({ length: 200 }, (_, index) => question(index)), next: isSecond ? null : "2" } });
  });
  await page.goto(`${served.address}/review/${question(200).request_id}`);
  await page.getByRole("heading", { name: "question 200" }).waitFor();
  await page.getByText("201 things wait for you").waitFor();
  await context.close();
});

test("a chip is an answer, and the question says afterwards what it was", async () => {
  const task = await served.begun("Ask me what you need");
  const asked = await served.at_last("/v1/questions", ({ questions }: { questions: { request_id: string; task_id: string }[] }) => questions.find(({ task_id }) => task_id === task)?.request_id);
  const { page, context } = await visit(browser, served, `/review/${asked}`);
  await page.getByRole("button", { name: "PostgreSQL" }).click();
  await page.getByRole("button", { name: "Answer" }).click();
  await served.at_last(`/v1/questions/${asked}`, ({ standing }: { standing: string }) => (standing === "answered" ? true : undefined));
  await page.goto(`${served.address}/review/${asked}`);
  await page.getByText("It was answered.").waitFor();
  await page.locator(".said").getByText("PostgreSQL").waitFor();
  // Of one that never was nobody says that it was answered.
  await page.goto(`${served.address}/review/01a1ecae-a16b-7260-acce-7dd0eb7861c2`);
  await page.getByText("There is no such card or question here.").waitFor();
  await context.close();
});

test("a part's card names its task and its item, and shows what stands where it would write", async () => {
  const document = "---\nid: careful\ntype: project\ntitle: Something careful\ntasks:\n  - {id: note, type: task, title: The note, interaction_mode: confirm_always}\n---\n# What to do\n## note\nWrite it anew. [//]: # (unseen)\n";
  writeFileSync(join(served.folder, "project", "old.txt"), "old\n");
  const task = await served.begun("Be careful", { planning: "given", document });
  const plan = await cardOf(task);
  const { page, context } = await visit(browser, served, `/review/${plan}`);
  await page.getByText("[//]: # (unseen)").waitFor();
  await served.ask("POST", `/v1/approvals/${plan}/approve`, { confirmed: true });
  const card = await served.at_last("/v1/approvals", ({ approvals }: { approvals: Approval[] }) => approvals.find(({ card }) => card.details.tool === "write")?.card.card_id);
  await page.goto(`${served.address}/review/${card}`);
  await page.locator(".diff .goes").getByText("old").waitFor();
  await page.locator(".diff .comes").getByText("new").waitFor();
  expect(await page.getByRole("link", { name: "Something careful" }).first().getAttribute("href")).toBe(`/tasks/${task}`);
  expect(await page.getByRole("link", { name: "The note" }).getAttribute("href")).toBe(`/tasks/${task}?atom=note`);
  expect((await looked(card)).task_id).not.toBe(task);
  await decline(card);
  await context.close();
});

test.each([["questions", "approvals"], ["approvals", "questions"]])("where %s cannot be read that is said, and what can be read is decided", async (broken, other) => {
  const question = { request_id: "01a1ecae-a16b-7260-acce-7dd0eb7861c3", task_id: "01a1ecae-a16b-7260-acce-7dd0eb7861c2", whose: null, asked_at: "2026-11-18T09:00:00Z", standing: "open", asked: { question: "number 0?", options: ["Yes"] }, answered: null };
  let isBroken = true;
  const { page, context } = await visit(browser, served, "/settings");
  await page.route(new RegExp(`/v1/${other}\\?`), (route) => route.fulfill({ json: other === "approvals" ? { approvals: made(1), next: null } : { questions: [question], next: null } }));
  await page.route(new RegExp(`/v1/${broken}\\?`), (route) => (isBroken ? route.fulfill({ status: 500, json: { detail: "the shelf is gone" } }) : route.fulfill({ json: { [broken]: [], next: null } })));
  await page.goto(`${served.address}/review`);
  await page.getByRole("heading", { name: /number 0/ }).waitFor();
  await page.getByRole("alert").getByText("The shelf is gone.").waitFor();
  await armed(page);
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("alert").waitFor({ state: "hidden" });
  await context.close();
});

test("whoever decides much in little time is told so, also after a reload, and not held up", async () => {
  const { page, context } = await visit(browser, served, "/review");
  const { name } = await served.ask<{ name: string }>("GET", "/v1/whoami");
  const decision = { verdict: "approved", by: name, decided_at: new Date().toISOString(), confirmed: false, conditions: [], note: "" };
  await page.route("**/v1/decisions", (route) => route.fulfill({ json: { decisions: Array.from({ length: 12 }, (_, index) => ({ card_id: String(index), intent: "x", risk_level: "low", asked_at: decision.decided_at, decision })) } }));
  await plays(page, made(1));
  await page.getByText("12 decisions in 10 minutes").waitFor();
  await armed(page);
  await context.close();
});

test("axe finds nothing on what opens: forms, the palette, the keys, a new goal", async () => {
  const { page, context } = await visit(browser, served, "/review");
  await plays(page, made(1));
  for (const key of ["n", "d", "e"]) {
    await armed(page);
    await page.keyboard.press(key);
    await page.locator(".decide form").waitFor();
    expect(await faults(page)).toEqual([]);
    await page.keyboard.press("Escape");
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  expect(await faults(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to or do" }).waitFor();
  expect(await faults(page)).toEqual([]);
  await page.goto(`${served.address}/schedules`);
  await page.getByRole("button", { name: "New goal …" }).click();
  await page.getByText("Nothing is wrong with it.").waitFor();
  expect(await faults(page)).toEqual([]);
  await context.close();
});
