// What a page of others, an agent or a tool could try: script in every field, a foreign origin, a frame, a stolen address.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { launched, visit } from "./stage/browser";
import { Served } from "./stage/served";

let served: Served;
let browser: Browser;

const SCRIPT = `<script>window.__owned=1</script><img src=x onerror="window.__owned=1"><svg onload="window.__owned=1"> [click](javascript:window.__owned=1) ![p](https://elsewhere.example/p.png) \u202e\u001b]52;c;aGk=\u0007`;

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start(), launched()]);
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
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
    const { page, context, strangers } = await visit(browser, served, place);
    page.on("dialog", () => expect.unreachable("a dialog was opened"));
    await page.locator("h1").first().waitFor();
    await page.waitForFunction(() => !/Reading /.test(document.querySelector("main")?.innerText ?? "Reading "));
    for (const link of await page.locator("main a[href]").all()) {
      const href = (await link.getAttribute("href")) ?? "";
      expect(href, place).toMatch(/^(\/|https?:\/\/|blob:)/);
      if (/^https?:/.test(href)) expect(await link.getAttribute("rel"), place).toBe("noreferrer noopener");
    }
    const seen = await page.evaluate(() => ({
      owned: (window as never as { __owned?: number }).__owned,
      pictures: [...document.images].map(({ src }) => src).filter((src) => !src.startsWith("blob:")),
      scripts: [...document.scripts].map(({ src, text }) => src || text).filter((one) => !one.startsWith(location.origin)),
    }));
    expect(seen, place).toEqual({ pictures: [], scripts: [] });
    expect(strangers, place).toEqual([]);
    await context.close();
  }
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
