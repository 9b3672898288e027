// Every page, at both widths and in both colours: axe finds nothing serious, nothing is wider than the screen, and nothing asks anybody
// else for anything. With SHOTS=1 a picture of each is kept in tests/shots, to be looked at.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { faults } from "./stage/axe";
import { armed, DESK, launched, PHONE, visit } from "./stage/browser";
import { Served } from "./stage/served";

let served: Served;
let browser: Browser;
const places: Record<string, string> = {};

interface Waiting {
  approvals: { task_id: string; card: { card_id: string } }[];
  questions: { task_id: string; request_id: string }[];
}

beforeAll(async () => {
  [served, browser] = await Promise.all([Served.start(), launched()]);
  const session = (await served.ask<{ session_id: string }>("POST", "/v1/sessions", {})).session_id;
  await served.ask("POST", `/v1/sessions/${session}/messages`, { message: "what can you do?" });
  await served.ask("POST", `/v1/sessions/${session}/messages`, { message: "make a shop" });
  const report = await served.begun("Write a report", { base_case: ["file: output/report.md"] });
  const lot = await served.begun("Print a lot");
  const rm = await served.begun("Remove the old export");
  const asks = await served.begun("Ask me what you need");
  const over = ({ result }: { result: unknown }) => (result ? true : undefined);
  await served.at_last(`/v1/tasks/${report}`, over);
  await served.at_last(`/v1/tasks/${lot}`, over);
  const call = await served.at_last("/v1/approvals", ({ approvals }: Waiting) => approvals.find(({ task_id }) => task_id === rm)?.card.card_id);
  const plan = await served.at_last("/v1/approvals", ({ approvals }: Waiting) => approvals.find(({ task_id }) => ![rm, asks].includes(task_id)));
  const question = await served.at_last("/v1/questions", ({ questions }: Waiting) => questions.find(({ task_id }) => task_id === asks)?.request_id);
  const run = async (task: string) => (await served.ask<{ executions: { execution_id: string }[] }>("GET", `/v1/tasks/${task}/executions`)).executions[0]?.execution_id ?? "";
  Object.assign(places, {
    "review-plan": `/review/${plan.card.card_id}`,
    "review-call": `/review/${call}`,
    "review-question": `/review/${question}`,
    stream: `/stream/${session}`,
    activity: "/activity?all=true",
    tasks: "/tasks",
    "task-plan": `/tasks/${plan.task_id}`,
    "task-report": `/tasks/${report}`,
    execution: `/executions/${await run(report)}`,
    "execution-journal": `/executions/${await run(lot)}?view=journal`,
    terminals: "/terminals",
    agents: "/agents",
    patterns: "/patterns",
    skills: "/skills",
    gates: "/gates",
    schedules: "/schedules",
    "dead-letters": "/dead-letters",
    settings: "/settings",
    nothing: "/nothing/like/this",
  });
});
afterAll(async () => {
  await browser?.close();
  await served?.end();
});

const NAMES = [
  "review-plan", "review-call", "review-question", "stream", "activity", "tasks", "task-plan", "task-report", "execution", "execution-journal",
  "terminals", "agents", "patterns", "skills", "gates", "schedules", "dead-letters", "settings", "nothing", "sign-in",
];

describe.each(NAMES)("%s", (name) => {
  test.each([
    ["desk", "light", DESK],
    ["desk", "dark", DESK],
    ["phone", "light", PHONE],
    ["phone", "dark", PHONE],
  ] as const)("on a %s, %s", async (width, colorScheme, viewport) => {
    const { page, context, complaints, strangers } = await visit(browser, served, places[name] ?? "/review", { viewport, colorScheme, isSignedIn: name !== "sign-in" });
    // It is drawn when nothing says any more that it is being read.
    await page.locator("h1, .state").first().waitFor();
    await page.waitForFunction(() => !/Reading /.test(document.querySelector("main")?.innerText ?? "Reading "));
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
