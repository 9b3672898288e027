// What a page of others, an agent or a tool could try: script in every field, a foreign origin, a frame, a stolen address.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { DESK, drawn, launched, PHONE, type Visit, visit } from "./stage/browser";
import { attacked, SCRIPT } from "./stage/hostile";
import { type Name, NAMES, places } from "./stage/places";
import { Served } from "./stage/served";
import { terminal } from "./stage/terminal";

let served: Served;
let browser: Browser;

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start(), launched()]);
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
});

/** Nothing ran, nobody else was asked for anything, no element came of markup, and links lead to the web or to a page of ours. */
async function harmless({ page, strangers }: Visit, place: string): Promise<void> {
  // At one moment: a list may change between two looks at it.
  const links = await page.locator("main a[href]").evaluateAll((all) => all.map((link) => [link.getAttribute("href") ?? "", link.getAttribute("rel")] as const));
  for (const [href, rel] of links) {
    expect(href, place).toMatch(/^(\/|https?:\/\/|blob:)/);
    if (/^https?:/.test(href)) expect(rel, place).toBe("noreferrer noopener");
  }
  const seen = await page.evaluate(() => ({
    owned: (window as never as { __owned?: number }).__owned,
    pictures: [...document.images].map(({ src }) => src).filter((src) => !src.startsWith("blob:")),
    scripts: [...document.scripts].map(({ src, text }) => src || text).filter((one) => !one.startsWith(location.origin)),
    handlers: document.querySelectorAll("[onload], [onerror]").length,
  }));
  expect(seen, place).toEqual({ pictures: [], scripts: [], handlers: 0 });
  expect(strangers, place).toEqual([]);
}

/** What is to be there before anybody looks: the attack has arrived where it hurts most. */
const SHOWS: Partial<Record<Name, string>> = { "review-plan": ".items", "task-plan": ".react-flow__node", "task-report": ".delivered", execution: ".step", "execution-journal": ".record", terminals: ".terminal.live", stream: ".work", activity: ".happened", nothing: ".state" };

/** Texts with something hidden in them, but for those that are read as a whole: Markdown, outputs, what people wrote. */
const hiding = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
      if (!text.parentElement?.closest(".markdown, .words, div.live, .xterm, pre, textarea")) found.push(text.textContent ?? "");
    }
    // eslint-disable-next-line no-control-regex
    return found.filter((text) => /[\u202e\u001b\u0007]/.test(text));
  });

test("markup and script in what people and agents say are words", async () => {
  const session = (await served.ask<{ session_id: string }>("POST", "/v1/sessions", {})).session_id;
  await served.ask("POST", `/v1/sessions/${session}/messages`, { message: `a script: ${SCRIPT}` });
  const done = await served.begun(`Write a note ${SCRIPT}`, { base_case: ["file: notes.md"] });
  await served.begun(`Remove the old ${SCRIPT}`);
  const asks = await served.begun(`Ask me ${SCRIPT}`);
  await served.at_last(`/v1/tasks/${done}`, ({ result }: { result: unknown }) => (result ? true : undefined));
  const card = await served.card("rm old.txt");
  const question = await served.at_last("/v1/questions", ({ questions }: { questions: { request_id: string; task_id: string }[] }) => questions.find(({ task_id }) => task_id === asks)?.request_id);
  const execution = (await served.ask<{ executions: { execution_id: string }[] }>("GET", `/v1/tasks/${done}/executions`)).executions[0]?.execution_id;
  const places = ["/tasks", `/tasks/${done}`, `/executions/${execution}`, `/executions/${execution}?view=journal`, `/review/${card}`, `/review/${question}`, `/stream/${session}`, "/activity?all=true", "/activity?find=%3Cscript%3E"];
  for (const place of places) {
    const seen = await visit(browser, served, place);
    await drawn(seen.page);
    await harmless(seen, place);
    await seen.context.close();
  }
});

describe("markup, script and hidden characters in whatever the server says", () => {
  let house: Served;
  let found: Record<Name, string>;
  beforeAll(async () => {
    house = await Served.start();
    found = await places(house);
    await terminal(house, "Do it");
  });
  afterAll(() => house?.end());

  test.each([["desk", DESK], ["phone", PHONE]] as const)("at the width of a %s are words, at every place", async (_, viewport) => {
    for (const name of NAMES.filter((name) => name !== "sign-in")) {
      const seen = await visit(browser, house, found[name], { viewport, before: attacked("what is compared") });
      const { page, context } = seen;
      await drawn(page);
      await page.locator(SHOWS[name] ?? "h1").first().waitFor();
      expect(await page.evaluate(() => document.body.textContent.includes("__owned")), name).toBe(true);
      // What is closed is opened, the first of each list.
      await page.locator("main details:not([open]) > summary").evaluateAll((closed) => closed.slice(0, 4).forEach((one) => (one as HTMLElement).click()));
      await drawn(page);
      await harmless(seen, name);
      expect.soft(await hiding(page), name).toEqual([]);
      expect.soft(await page.getByText("Only this page broke.").count(), name).toBe(0);
      await page.keyboard.press("Control+k");
      await page.getByRole("listbox", { name: "What was found" }).getByRole("option").first().waitFor();
      await harmless(seen, `${name}, with the palette`);
      expect.soft(await hiding(page), name).toEqual([]);
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
    }
  });

  test("are words also in what a page compares: it knows nothing of that, and does not break", async () => {
    for (const name of NAMES.filter((name) => name !== "sign-in")) {
      const seen = await visit(browser, house, found[name], { before: attacked("what is given back") });
      const { page, context } = seen;
      await drawn(page);
      await page.waitForFunction(() => document.body.textContent.includes("__owned"));
      await page.locator("main details:not([open]) > summary").evaluateAll((closed) => closed.slice(0, 4).forEach((one) => (one as HTMLElement).click()));
      await drawn(page);
      // Of its own words the server has none with anything hidden in them.
      await harmless(seen, name);
      expect.soft(await page.getByText("Only this page broke.").count(), name).toBe(0);
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
    }
  });

  test.each(["/activity?all=true", "stream"] as const)("are words in what happens while one looks, at %s", async (place) => {
    const session = (await house.ask<{ session_id: string }>("POST", "/v1/sessions", { name: "attacked" })).session_id;
    await house.ask("POST", `/v1/sessions/${session}/messages`, { message: "hello" });
    const seen = await visit(browser, house, place === "stream" ? `/stream/${session}` : place, { before: attacked("what is compared") });
    await drawn(seen.page);
    // What was asked for so far is not turned any more: what comes from now on comes by events alone.
    await seen.page.unrouteAll({ behavior: "wait" });
    await house.ask("POST", `/v1/sessions/${session}/messages`, { message: "a persimmon" });
    await seen.page.waitForFunction(() => /a persimmon<script>window\.__owned/.test(document.querySelector("main")?.textContent ?? ""));
    await harmless(seen, place);
    expect(await hiding(seen.page)).toEqual([]);
    await seen.context.close();
  });
});

test("the control: the same markup does run on a page that renders it", async () => {
  const page = await browser.newPage();
  await page.setContent(SCRIPT);
  await page.waitForFunction(() => (window as never as { __owned?: number }).__owned === 1);
  await page.close();
});

test("were there script in the page, the policy would not let it run", async () => {
  const { page, context } = await visit(browser, served, "/tasks");
  await page.locator("h1").first().waitFor();
  const refused = await page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective), { once: true });
        const script = document.createElement("script");
        script.textContent = "window.__owned = 1";
        document.body.append(script);
      }),
  );
  expect(refused).toBe("script-src-elem");
  expect(await page.evaluate(() => (window as never as { __owned?: number }).__owned)).toBeUndefined();
  await context.close();
});

test("a page of others gets nothing from the server, neither by asking nor in a frame", async () => {
  const status = async (path: string, headers: Record<string, string>) => (await fetch(served.address + path, { headers })).status;
  const foreign = { Origin: "https://evil.example" };
  expect(await status("/", foreign)).toBe(403);
  expect(await status("/v1/tasks", { ...foreign, Authorization: `Bearer ${served.token}` })).toBe(403);
  // The control: the server's own page is heard.
  expect(await status("/v1/tasks", { Origin: served.address, Authorization: `Bearer ${served.token}` })).toBe(200);
  const { headers } = await fetch(served.address);
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(headers.get("content-security-policy")).not.toContain("unsafe");
  expect(headers.get("access-control-allow-origin")).toBeNull();
});

test("an address that is passed on opens nothing for whoever has no token", async () => {
  const task = await served.begun("Write a note that is nobody else's");
  const { page, context } = await visit(browser, served, `/tasks/${task}`);
  await page.getByRole("heading", { name: "Write a note that is nobody else's" }).waitFor();
  const address = page.url();
  expect(address).not.toContain(served.token);
  await context.close();
  const stranger = await browser.newContext();
  const theirs = await stranger.newPage();
  await theirs.goto(address);
  await theirs.getByLabel("Token").waitFor();
  expect(await theirs.content()).not.toContain("nobody else's");
  await stranger.close();
});
