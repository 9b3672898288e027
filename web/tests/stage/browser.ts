// A real browser, and pages in it that tell what went wrong in them.
import { join } from "node:path";

import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

import type { Served } from "./served";

/** Without the last ones it asks for hosts of its maker's at every start. */
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export const launched = (): Promise<Browser> => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });

export const DESK = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** What the documents show, where SHOTS=docs asks for it. A temporary folder is shown as one that somebody could have. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SHOTS !== "docs") return;
  await page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
      text.nodeValue = text.nodeValue?.replace(/\/\S*windlass-console-\w+\/project/, "/srv/text-tools") ?? "";
    }
  });
  await page.screenshot({ path: join("..", "docs", `${name}.png`) });
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** What the page's console and the browser complained of. */
  complaints: string[];
  /** Hosts other than the server's that were asked for anything. */
  strangers: string[];
}

interface Wanted {
  viewport?: { width: number; height: number };
  colorScheme?: "light" | "dark";
  isSignedIn?: boolean;
  /** What is done to the page before it goes anywhere. */
  before?(page: Page): Promise<unknown>;
}

export async function visit(browser: Browser, served: Served, path: string, { viewport = DESK, colorScheme = "light", isSignedIn = true, before }: Wanted = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
  if (isSignedIn) await context.addInitScript((token) => sessionStorage.setItem("windlass.token", token), served.token);
  const page = await context.newPage();
  const complaints: string[] = [];
  const strangers: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(`${message.text()} ${message.location().url}`.trim()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.origin !== served.address) strangers.push(url.origin);
  });
  await before?.(page);
  await page.goto(served.address + path);
  return { page, context, complaints, strangers };
}

/** It is drawn when nothing says any more that it is being read. */
export async function drawn(page: Page): Promise<void> {
  await page.locator("h1, .state").first().waitFor();
  await page.waitForFunction(() => !/Reading /.test(document.querySelector("main")?.innerText ?? "Reading "));
}

/** A card takes keys once it could be seen. */
export const armed = (page: Page): Promise<void> => page.locator(".decide button.primary:enabled, .chips button:enabled").first().waitFor();
