// Every page, at both widths and in both colours: axe finds nothing serious, nothing is wider than the screen, and nothing asks anybody
// else for anything. With SHOTS=1 a picture of each is kept in tests/shots, to be looked at.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { faults } from "./stage/axe";
import { armed, DESK, drawn, launched, PHONE, visit } from "./stage/browser";
import { type Name, NAMES, places } from "./stage/places";
import { Served } from "./stage/served";

let served: Served;
let browser: Browser;
let found: Record<Name, string>;

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start(), launched()]);
  found = await places(served);
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
});

describe.each(NAMES)("%s", (name) => {
  test.each([
    ["desk", "light", DESK],
    ["desk", "dark", DESK],
    ["phone", "light", PHONE],
    ["phone", "dark", PHONE],
  ] as const)("on a %s, %s", async (width, colorScheme, viewport) => {
    const { page, context, complaints, strangers } = await visit(browser, served, found[name], { viewport, colorScheme, isSignedIn: name !== "sign-in" });
    await drawn(page);
    if (name.startsWith("review-")) await armed(page);
    if (process.env.SHOTS) await page.screenshot({ path: `tests/shots/${name}-${width}-${colorScheme}.png` });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(wide).toBeLessThanOrEqual(0);
    expect(await faults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    expect(strangers).toEqual([]);
    await context.close();
  });
});
