// What axe finds wrong with a page as it is, by the rules of WCAG A and AA.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function faults(page: Page): Promise<string[]> {
  // By the debugger, which the page's policy does not hold for.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await (window as never as { axe: { run(where: Document, how: object): Promise<{ violations: { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] }[] }> } }).axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    });
    return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(" ")} (${failureSummary.split("\n").slice(1).join(" ").trim()})`).slice(0, 4).join("; ")}`);
  });
}
