// What opens on a page and over it, at both widths and in both colours: axe finds nothing wrong with it, and nothing in it is wider than it is.
// With SHOTS=1 a picture of each is kept in tests/shots, to be looked at.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { faults } from "./stage/axe";
import { armed, DESK, drawn, launched, PHONE, visit } from "./stage/browser";
import { atWork, card, ID } from "./stage/made";
import { Served } from "./stage/served";
import { terminal } from "./stage/terminal";

let served: Served;
let browser: Browser;
/** Where things are. */
const at: Record<string, string> = {};

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start(), launched()]);
  const over = ({ result }: { result: unknown }) => (result ? true : undefined);
  const run = async (task: string) => (await served.ask<{ executions: { execution_id: string }[] }>("GET", `/v1/tasks/${task}/executions`)).executions[0]?.execution_id ?? "";
  at.agreed = await served.begun("Two files and a third", { planning: "aligning" });
  const lot = await served.begun("Print a lot");
  await served.begun("Remove the old export");
  await served.at_last(`/v1/tasks/${at.agreed}`, ({ standing }: { standing: string }) => (standing === "agreed" ? true : undefined));
  await served.at_last(`/v1/tasks/${lot}`, over);
  at.run = await run(lot);
  at.answered = await served.card("rm old.txt");
  await served.ask("POST", `/v1/approvals/${at.answered}/decline`, { note: "It is needed." });
  await served.ask("POST", "/v1/schedules", { document: "---\nid: green\ntype: goal\ntitle: Keep it green\nschedule: \"0 6 * * 1-5\"\nverify: [{file: old.txt}]\n---\n# What to do\nKeep it green.\n" });
  at.session = (await served.ask<{ session_id: string }>("POST", "/v1/sessions", {})).session_id;
  await served.ask("POST", `/v1/sessions/${at.session}/messages`, { message: "make a shop" });
  at.turn = await served.at_last(`/v1/sessions/${at.session}`, ({ tasks }: { tasks: { task_id: string }[] }) => tasks[0]?.task_id);
  at.plan = await served.at_last("/v1/approvals", ({ approvals }: { approvals: { task_id: string; card: { card_id: string } }[] }) => approvals.find(({ task_id }) => task_id === at.turn)?.card.card_id);
  at.terminal = await terminal(served, "Do it");
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
});

const press = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).first().click();
const keys = async (page: Page, key: string) => {
  await armed(page);
  await page.keyboard.press(key);
};
const node = async (page: Page, id: string) => {
  await page.locator(`.react-flow__node[data-id="${id}"]`).focus();
  await page.keyboard.press("Enter");
};
const said = (task: string): string =>
  ["A thought of it, ", "and another"].map((text) => `event: delta\ndata: ${JSON.stringify({ execution_id: at.run, task_id: task, whole: task, kind: "text", text })}\n\n`).join("");
const empty = (page: Page) => page.route(/\/v1\/(approvals|questions)\?/, (route) => route.fulfill({ json: { approvals: [], questions: [], next: null } }));
const letter = { message_id: "01a1ecae-a16b-7260-acce-7dd0eb7861c2", kind: "task.start", queue: "executor", reason: "it failed too often" };

/** Where it opens, by what, and what says that it is there. */
const OPENS: Record<string, { path(): string; before?(page: Page): Promise<unknown>; open?(page: Page): Promise<unknown>; shows(page: Page): Promise<unknown> }> = {
  "start": { path: () => `/tasks/${at.agreed}`, open: (page) => press(page, "Start …"), shows: async (page) => {
    await page.getByRole("dialog").getByText("At worst").waitFor();
    await page.keyboard.press("m");
    await page.getByRole("button", { name: "As it is written" }).waitFor();
  } },
  "fork": { path: () => `/executions/${at.run}`, open: (page) => press(page, "Fork from here …"), shows: (page) => page.getByLabel("What it is to do now").waitFor() },
  "new-task": {
    path: () => "/tasks",
    open: async (page) => {
      await press(page, "New task …");
      await page.getByText("Where, by whom, and for how much").click();
      await page.getByLabel("Over in any case").fill("2h");
      await page.getByLabel("Files to attach").setInputFiles([{ name: "a.bin", mimeType: "application/octet-stream", buffer: Buffer.from([255, 254]) }]);
      await page.keyboard.press("Escape");
    },
    shows: async (page) => {
      await page.getByText("It is neither text nor a picture").waitFor();
      await page.getByText("kept nowhere else").waitFor();
      expect(await page.getByRole("button", { name: "Begin" }).isDisabled()).toBe(true);
    },
  },
  "cancel": { path: () => `/tasks/${at.agreed}`, open: (page) => press(page, "Cancel …"), shows: (page) => page.getByRole("dialog", { name: "Cancel the task" }).waitFor() },
  "new-conversation": { path: () => "/stream", open: (page) => press(page, "New …"), shows: (page) => page.getByLabel("Its name").waitFor() },
  "new-goal": { path: () => "/schedules?new=true", shows: (page) => page.getByText("Nothing is wrong with it.").waitFor() },
  "remove-goal": { path: () => "/schedules", open: (page) => press(page, "Remove …"), shows: (page) => page.getByRole("dialog", { name: "Remove it" }).waitFor() },
  "throw-away": {
    path: () => "/dead-letters",
    before: (page) => page.route(/\/v1\/dead-letters\?/, (route) => route.fulfill({ json: { items: [letter], next: null } })),
    open: (page) => press(page, "Throw away …"),
    shows: (page) => page.getByRole("dialog", { name: "Throw it away" }).waitFor(),
  },
  "check-pattern": { path: () => "/patterns", open: (page) => press(page, "Check one of your own …"), shows: (page) => page.getByText("Nothing is wrong with it.").waitFor() },
  "whole-output": {
    path: () => `/executions/${at.run}`,
    open: async (page) => {
      await page.locator("details.step").filter({ hasText: "bash" }).first().locator("summary").click();
      await press(page, "All of it …");
    },
    shows: (page) => page.getByLabel("The whole output").getByText("0 B to").waitFor(),
  },
  "decide-words": { path: () => "/review", before: card, open: (page) => keys(page, "n"), shows: (page) => page.getByLabel("On condition that").waitFor() },
  "decide-twice": { path: () => "/review", before: card, open: (page) => keys(page, "a"), shows: (page) => page.getByText(/Is it meant/).waitFor() },
  "decide-decline": { path: () => "/review", before: card, open: (page) => keys(page, "d"), shows: (page) => page.getByLabel(/^Why not/).waitFor() },
  "decide-edit": { path: () => "/review", before: card, open: (page) => keys(page, "e"), shows: (page) => page.getByLabel(/^What should be done instead/).waitFor() },
  "edit-plan": {
    path: () => `/review/${at.plan}`,
    open: async (page) => {
      await keys(page, "e");
      await page.getByRole("textbox", { name: "The plan's document" }).fill("---\nid: careful\ntype: nothing\n---\n");
    },
    shows: async (page) => {
      await page.getByRole("list", { name: "What is wrong with it" }).waitFor();
      await page.getByText(/lines? go(es)?,/).waitFor();
    },
  },
  "graph": { path: () => `/tasks/${ID}`, before: atWork, shows: (page) => page.locator(".react-flow__node").first().waitFor() },
  "atom": { path: () => `/tasks/${ID}`, before: atWork, open: (page) => node(page, "first"), shows: (page) => page.getByLabel("About first").getByText("no compiler").waitFor() },
  "ways": { path: () => `/tasks/${ID}`, before: atWork, open: (page) => node(page, "way"), shows: (page) => page.getByLabel("About way").getByText("is taken").waitFor() },
  "came-to": {
    path: () => `/tasks/${ID}`,
    before: atWork,
    open: async (page) => {
      await node(page, "data");
      await press(page, "It came to something else …");
    },
    shows: (page) => page.getByLabel(/^What it came to/).waitFor(),
  },
  "change": {
    path: () => `/tasks/${ID}`,
    before: atWork,
    open: async (page) => {
      await press(page, "Change it …");
      await press(page, "The goal");
    },
    shows: (page) => page.getByLabel("Done means").waitFor(),
  },
  "redirect": {
    path: () => `/tasks/${ID}`,
    before: atWork,
    open: async (page) => {
      await node(page, "end");
      await press(page, "Drop it …");
      await page.getByRole("dialog", { name: "Redirect" }).getByRole("button", { name: "Change it …" }).click();
    },
    shows: (page) => page.getByText("Is that meant?").waitFor(),
  },
  "remove-goal-refused": {
    path: () => "/schedules",
    before: (page) => page.route(/\/v1\/schedules\/green$/, (route) => route.fulfill({ status: 503, json: { detail: "the store is full", hint: "make room" } })),
    open: async (page) => {
      await press(page, "Remove …");
      await page.getByRole("dialog").getByRole("button", { name: "Remove it" }).click();
    },
    shows: (page) => page.getByRole("dialog").getByText("The store is full.").waitFor(),
  },
  "goal": { path: () => "/schedules", open: (page) => page.getByText(/^What it is/).first().click(), shows: (page) => page.getByText("What whoever mends it is told").waitFor() },
  "gates-tried": {
    path: () => "/gates",
    open: async (page) => {
      await page.getByLabel(/What it is given/).fill('{"command": "rm old.txt"}');
      await press(page, "What would be said?");
    },
    shows: (page) => page.getByRole("status").getByText("require approval").first().waitFor(),
  },
  "pattern-wrong": {
    path: () => "/patterns",
    open: async (page) => {
      await press(page, "Check one of your own …");
      await page.getByRole("textbox", { name: "Its document" }).fill("name: mine\nsteps: []\n");
    },
    shows: (page) => page.getByRole("list", { name: "What is wrong with it" }).getByRole("button").first().waitFor(),
  },
  "stream-live": {
    path: () => `/stream/${at.session}`,
    // What is being said by whoever works for it, over and over: it is not there for long otherwise.
    before: (page) => page.route(/\/v1\/events/, (route) => route.fulfill({ contentType: "text/event-stream", body: said(at.turn ?? "") })),
    shows: (page) => page.locator(".live").getByText("A thought of it").waitFor(),
  },
  "palette": { path: () => "/settings", open: (page) => page.keyboard.press("Control+k"), shows: (page) => page.getByRole("combobox", { name: "Go to or do" }).waitFor() },
  "keys": { path: () => "/settings", open: (page) => page.keyboard.press("?"), shows: (page) => page.getByRole("dialog", { name: "Keys" }).waitFor() },
  "going": { path: () => "/settings", open: (page) => page.keyboard.press("g"), shows: (page) => page.getByText("the next key says where").waitFor() },
  "review-empty": { path: () => "/review", before: empty, shows: (page) => page.getByText("Nothing waits for you.").waitFor() },
  "review-answered": { path: () => `/review/${at.answered}`, before: empty, shows: (page) => page.getByText("It was declined.").waitFor() },
  "terminal": { path: () => "/terminals", shows: (page) => page.locator(".xterm-rows").getByText(/READY/).waitFor() },
  "recording": { path: () => `/executions/${at.terminal}?view=recording`, shows: (page) => page.getByLabel("Place in the recording").waitFor() },
};

describe.each(Object.keys(OPENS))("%s", (name) => {
  test.each([
    ["desk", "light", DESK],
    ["desk", "dark", DESK],
    ["phone", "light", PHONE],
    ["phone", "dark", PHONE],
  ] as const)("on a %s, %s", async (width, colorScheme, viewport) => {
    const { path, before, open, shows } = OPENS[name] ?? expect.unreachable();
    const { page, context, complaints, strangers } = await visit(browser, served, path(), { viewport, colorScheme, ...(before ? { before } : {}) });
    await drawn(page);
    await open?.(page);
    await shows(page);
    if (process.env.SHOTS) await page.screenshot({ path: `tests/shots/open-${name}-${width}-${colorScheme}.png` });
    const wide = await page.evaluate(() => [document.documentElement, ...document.querySelectorAll("dialog")].filter((one) => one.scrollWidth > one.clientWidth).map(({ tagName }) => tagName));
    expect(wide).toEqual([]);
    expect(await faults(page)).toEqual([]);
    // The browser names answers that are no success.
    expect([complaints.filter((one) => !one.includes("503")), strangers]).toEqual([[], []]);
    await context.close();
  });
});
