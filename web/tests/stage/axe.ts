// What axe finds on a page as it stands, in words.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Found {
  violations: { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

export async function found(page: Page): Promise<string[]> {
  // By the debugger, which the page's policy does not hold for.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await (window as never as { axe: { run(where: Document, how: object): Promise<Found> } }).axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    });
    return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(" ")} (${failureSummary.split("\n").slice(1).join(" ").trim()})`).slice(0, 4).join("; ")}`);
  });
}
