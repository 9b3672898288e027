// Terminals in the console: looked at, typed into, and looked at again.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { launched, PHONE, visit } from "./stage/browser";
import { Served } from "./stage/served";
import { terminal } from "./stage/terminal";

let served: Served;
let browser: Browser;
let execution: string;

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start(), launched()]);
  execution = await terminal(served, "Do it");
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
});

test("two look at the same screen, and what one types both see", async () => {
  const one = await visit(browser, served, "/terminals");
  const two = await visit(browser, served, "/terminals", { viewport: PHONE, colorScheme: "dark" });
  for (const { page } of [one, two]) await page.locator(".xterm-rows").getByText(/READY/).waitFor();
  await one.page.locator(".xterm-helper-textarea").focus();
  await one.page.keyboard.type("hello there\n");
  for (const { page } of [one, two]) await page.locator(".xterm-rows").getByText("heard hello there").waitFor();
  await one.page.keyboard.type("colours\n");
  const red = one.page.locator(".xterm-rows span").filter({ hasText: /^red$/ }).last();
  await red.waitFor();
  const colours = await one.page.locator(".xterm-rows span").filter({ hasText: /^(red|green)$/ }).evaluateAll((spans) => spans.map((span) => getComputedStyle(span).color));
  expect(new Set(colours).size).toBe(2);
  await one.page.keyboard.type("hostile\n");
  await one.page.locator(".xterm-rows").getByText("still here").first().waitFor();
  expect(await one.page.title()).toBe("Terminals · Windlass");
  expect(await one.page.locator(".xterm a").count()).toBe(0);
  // The keys of the page are there again after Ctrl ].
  await one.page.keyboard.press("Control+]");
  await one.page.keyboard.press("?");
  await one.page.getByRole("dialog", { name: "Keys" }).waitFor();
  await one.page.keyboard.press("Escape");
  if (process.env.SHOTS) for (const [name, { page }] of [["desk-light", one], ["phone-dark", two]] as const) await page.screenshot({ path: `tests/shots/terminal-${name}.png` });
  expect([...one.complaints, ...two.complaints, ...one.strangers]).toEqual([]);
  await one.context.close();
  await two.context.close();
});

test("several stand side by side, each with the room that it is shown in, and what one showed is there when it is over", async () => {
  const second = await terminal(served, "Do it as well");
  const { page, context, complaints } = await visit(browser, served, "/terminals");
  const screen = page.getByLabel(`Terminal ${second.slice(-8)}`);
  await screen.locator(".xterm-rows").getByText(/READY/).waitFor();
  expect(await page.locator(".terminal.live").count()).toBe(2);
  const columns = async (): Promise<number> => {
    await screen.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("size\n");
    const said = screen.locator(".xterm-rows").getByText(/^SIZE \d+ \d+/).last();
    await said.waitFor();
    return Number(/SIZE \d+ (\d+)/.exec((await said.textContent()) ?? "")?.[1]);
  };
  const before = await columns();
  // Another window has room for another number of columns: the program is told, and paints for that.
  const painted = screen.locator(".xterm-screen");
  const wide = await painted.evaluate((one) => one.clientWidth);
  await page.setViewportSize({ width: 1100, height: 900 });
  await page.waitForFunction(([name, before]) => document.querySelector(`[aria-label="${String(name)}"] .xterm-screen`)?.clientWidth !== before, [`Terminal ${second.slice(-8)}`, wide] as const);
  await page.keyboard.type("size\n");
  await page.waitForFunction(
    ([name, before]) => [...document.querySelectorAll(`[aria-label="${String(name)}"] .xterm-rows > div`)].some((row) => Number(/SIZE \d+ (\d+)/.exec(row.textContent ?? "")?.[1] ?? before) !== before),
    [`Terminal ${second.slice(-8)}`, before] as const,
  );
  await page.keyboard.type("quit\n");
  await page.getByLabel("Recordings").getByText(second.slice(-8)).click();
  await page.getByLabel("Place in the recording").waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("a recording is scrubbed through", async () => {
  const { page, context, complaints } = await visit(browser, served, `/executions/${execution}?view=recording`);
  const place = page.getByLabel("Place in the recording");
  await place.waitFor();
  await place.focus();
  await page.keyboard.press("End");
  await page.locator(".xterm-rows").getByText("heard hello there").waitFor();
  await page.keyboard.press("Home");
  await page.locator(".xterm-rows").getByText("heard hello there").waitFor({ state: "hidden" });
  if (process.env.SHOTS) await page.screenshot({ path: "tests/shots/recording.png" });
  expect(complaints).toEqual([]);
  await context.close();
});
