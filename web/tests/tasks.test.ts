// One task and one execution, as whoever is in charge of them sees, steers and changes them.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { faults } from "./stage/axe";
import { launched, PHONE, visit } from "./stage/browser";
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

const standing = (wanted: string) => (task: { standing: string }) => (task.standing === wanted ? true : undefined);
const over = ({ result }: { result: unknown }) => (result ? true : undefined);
const agreed = async (goal = "Two files and a third"): Promise<string> => {
  const task = await served.begun(goal, { planning: "aligning" });
  await served.at_last(`/v1/tasks/${task}`, standing("agreed"));
  return task;
};
const execution = async (task: string): Promise<string> => (await served.ask<{ executions: { execution_id: string }[] }>("GET", `/v1/tasks/${task}/executions`)).executions[0]?.execution_id ?? "";
/** What is shown of a change before anybody says yes to it. */
const different = (page: Page) => page.getByRole("dialog", { name: "Redirect" }).getByLabel("What is different").locator("li").allTextContents();
const part = (page: Page, id: string) => page.locator(`.react-flow__node[data-id="${id}"]`);

test("a price that nobody knows breaks no page, and a page that breaks leaves the others", async () => {
  const task = await served.begun("Write a note without a price", { base_case: ["file: notes.md"] });
  await served.at_last(`/v1/tasks/${task}`, over);
  const { page, context } = await visit(browser, served, "/agents");
  await page.route(/\/v1\/tasks\?/, async (route) => {
    const page = (await (await route.fetch()).json()) as { tasks: { result: { cost_usd: null } | null }[] };
    for (const { result } of page.tasks) if (result) result.cost_usd = null;
    await route.fulfill({ json: page });
  });
  await page.getByRole("link", { name: "Tasks" }).click();
  await page.getByText("cost unknown").first().waitFor();
  // Something that no server says.
  await page.route(/\/v1\/tasks\/[^/]+$/, (route) => route.fulfill({ json: { task_id: task, standing: null, title: {} } }));
  await page.getByText("Write a note without a price").click();
  await page.getByText("Only this page broke.").waitFor();
  await page.getByRole("link", { name: "Agents" }).click();
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await context.close();
});

test("what was agreed on is shown before it begins, and begins as it was seen or not at all", async () => {
  const task = await agreed();
  const { page, context, complaints } = await visit(browser, served, `/tasks/${task}`);
  // What was shown has become something else by the time it is begun.
  await page.route(/\/start$/, async (route) => {
    if (route.request().method() !== "GET") return route.continue();
    await route.fulfill({ json: { ...(await (await route.fetch()).json()), seen: "of another graph" } });
  }, { times: 1 });
  await page.getByRole("button", { name: "Start …" }).click();
  const dialog = page.getByRole("dialog", { name: "Start the task" });
  await dialog.getByText("Write the first file.").first().waitFor();
  await dialog.getByText("At worst").waitFor();
  await dialog.getByText("a.txt").first().waitFor();
  await dialog.getByRole("button", { name: "Start it" }).click();
  await dialog.getByText("It was changed since it was shown.").waitFor();
  expect((await served.ask<{ standing: string }>("GET", `/v1/tasks/${task}`)).standing).toBe("agreed");
  await dialog.getByRole("button", { name: "Look at it as it is now" }).click();
  await dialog.getByRole("button", { name: "Start it" }).click();
  await dialog.waitFor({ state: "hidden" });
  await served.at_last(`/v1/tasks/${task}`, ({ standing }: { standing: string }) => (standing === "agreed" ? undefined : true));
  await served.ask("POST", `/v1/tasks/${task}/cancel`, {});
  expect(complaints.filter((one) => !one.includes("409"))).toEqual([]);
  await context.close();
});

test("what may reach beyond its folder takes a second step", async () => {
  const task = await agreed();
  const { page, context } = await visit(browser, served, `/tasks/${task}`);
  await page.route(/\/start$/, async (route) => {
    if (route.request().method() !== "GET") return route.continue();
    const shown = (await (await route.fetch()).json()) as { card: object };
    await route.fulfill({ json: { ...shown, card: { ...shown.card, risk_level: "high" } } });
  });
  const posted: unknown[] = [];
  page.on("request", (request) => request.method() === "POST" && request.url().endsWith("/start") && posted.push(request.postDataJSON()));
  await page.getByRole("button", { name: "Start …" }).click();
  await page.getByRole("button", { name: "Start it …" }).click();
  await page.getByText("Is that meant?").waitFor();
  expect(posted).toEqual([]);
  await page.getByRole("button", { name: "Start it, that is meant" }).click();
  await page.getByRole("dialog", { name: "Start the task" }).waitFor({ state: "hidden" });
  expect(posted).toEqual([{ confirmed: true, seen: expect.any(String) }]);
  await served.ask("POST", `/v1/tasks/${task}/cancel`, {});
  await context.close();
});

test("the graph is changed where it is drawn, and what a part came to is said when it is chosen", async () => {
  const task = await agreed();
  await served.ask("POST", `/v1/tasks/${task}/start`, {});
  await served.at_last(`/v1/tasks/${task}/objective`, ({ bindings }: { bindings: { atom: string }[] }) => bindings.find(({ atom }) => atom === "a"));
  const { page, context, complaints } = await visit(browser, served, `/tasks/${task}`);
  await part(page, "a").click();
  await page.getByLabel("About a").getByText("It is there.").waitFor();
  await page.getByRole("button", { name: "Close" }).click();

  await page.getByRole("button", { name: "Change it …" }).click();
  await page.getByLabel("Its name").fill("d");
  await page.getByLabel("What is to be done").fill("Write the fourth file.");
  await page.getByLabel("It is done when these checks pass, one a line").fill("file: d.txt");
  await page.getByLabel("After these parts").fill("c");
  await page.getByRole("button", { name: "See what it comes to …" }).click();
  await page.getByText("At worst").waitFor();
  expect(await different(page)).toEqual(["  d: new  after c", "    │ Write the fourth file.", "    check d.txt exists (within 600 s)"]);
  await page.getByRole("dialog", { name: "Redirect" }).getByText("medium risk").waitFor();
  expect(await part(page, "d").count()).toBe(0);
  await page.getByRole("button", { name: "Change it", exact: true }).click();
  await part(page, "d").waitFor();

  await part(page, "d").click();
  await page.getByRole("button", { name: "Drop it …" }).click();
  await page.getByRole("button", { name: "Change it", exact: true }).click();
  await part(page, "d").waitFor({ state: "hidden" });
  await page.getByText("It was changed", { exact: true }).first().waitFor();

  // In words: a planner looks for the change, and what it found is there for whoever comes back.
  await page.getByLabel("it changes what was agreed on").check();
  await page.getByLabel("What you say").fill("without the third file");
  await page.getByRole("button", { name: "Look for the change" }).click();
  await page.getByRole("button", { name: "See what was found …" }).waitFor();
  await page.goto(`${served.address}/tasks`);
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  await page.goto(`${served.address}/tasks/${task}`);
  await page.getByRole("button", { name: "See what was found …" }).click();
  await page.getByText("The third is not needed.").waitFor();
  expect(await different(page)).toEqual(["  c: Write the third file. → not done"]);
  await page.getByRole("button", { name: "Change it", exact: true }).click();
  await part(page, "c").waitFor({ state: "hidden" });
  await served.ask("POST", `/v1/tasks/${task}/cancel`, {});
  expect(complaints).toEqual([]);
  await context.close();
});

test("what a planner found is seen to its last check before anybody says yes, and takes a second step where it reaches out", async () => {
  const task = await agreed();
  await served.ask("POST", `/v1/tasks/${task}/start`, {});
  await served.ask("POST", `/v1/tasks/${task}/redirect`, { words: "tell the post office" });
  const { page, context, complaints } = await visit(browser, served, `/tasks/${task}`);
  await page.getByRole("button", { name: "See what was found …" }).click();
  const dialog = page.getByRole("dialog", { name: "Redirect" });
  await dialog.getByText("high risk").waitFor();
  expect(await different(page)).toEqual([
    "  post: new  after c · reaches post", "    │ Send the first file.", "    │ Then wait.", "    check test -f sent.txt (within 600 s)",
  ]);
  // The heading is ours, and the planner's words are its own.
  expect(await dialog.getByRole("heading", { level: 2 }).textContent()).toBe("the graph is now with `post`");
  await dialog.getByRole("heading", { name: "The planner says, and nobody has to believe it" }).waitFor();
  expect(await dialog.locator("blockquote").textContent()).toBe("A small thing that changes nothing.");
  expect(await faults(page)).toEqual([]);
  const posted: { confirmed: boolean }[] = [];
  page.on("request", (request) => request.method() === "POST" && request.url().endsWith("/redirect") && posted.push(request.postDataJSON() as { confirmed: boolean }));
  await dialog.getByRole("button", { name: "Change it …" }).click();
  await dialog.getByText("Is that meant?").waitFor();
  expect(posted).toEqual([]);
  await dialog.getByRole("button", { name: "Change it, that is meant" }).click();
  await part(page, "post").waitFor();
  expect(posted).toMatchObject([{ confirmed: true, seen: expect.any(String) }]);
  await served.ask("POST", `/v1/tasks/${task}/cancel`, {});
  expect(complaints).toEqual([]);
  await context.close();
});

test("words that were begun to one task are not said to another", async () => {
  const one = await served.begun("Take your time with the one");
  const other = await served.begun("Take your time with the other");
  const { page, context } = await visit(browser, served, `/tasks/${one}`);
  await page.getByLabel("What you say").fill("for the one alone");
  await page.evaluate((id) => history.pushState({}, "", `/tasks/${id}`), other);
  await page.getByRole("heading", { name: "Take your time with the other" }).waitFor();
  expect(await page.getByLabel("What you say").inputValue()).toBe("");
  for (const task of [one, other]) await served.ask("POST", `/v1/tasks/${task}/cancel`, {});
  await context.close();
});

test("a part leads to its whole, and cannot be paused alone", async () => {
  const task = await agreed();
  await served.ask("POST", `/v1/tasks/${task}/start`, {});
  const of = await served.at_last(`/v1/tasks/${task}/executions`, ({ executions }: { executions: { agent_id: string; scope: { id: string } }[] }) => executions.find(({ scope, agent_id }) => agent_id === "executor" && scope.id !== task)?.scope.id);
  const { page, context } = await visit(browser, served, `/tasks/${of}`);
  await page.getByRole("heading", { name: /^Write the .* file\.$/ }).waitFor();
  expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
  await page.getByRole("link", { name: "Two files and a third" }).click();
  await page.getByRole("heading", { name: "Two files and a third" }).waitFor();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await served.ask("POST", `/v1/tasks/${task}/cancel`, {});
  await context.close();
});

test("executions say on which part they work, and a part who worked on it", async () => {
  const task = await agreed();
  await served.ask("POST", `/v1/tasks/${task}/start`, {});
  const of = (atom: string) => served.at_last(`/v1/tasks/${task}/executions`, ({ executions }: { executions: { atom: string | null; execution_id: string }[] }) => executions.find((run) => run.atom === atom)?.execution_id.slice(-8));
  const [first, second] = [await of("a"), await of("b")];
  const { page, context, complaints } = await visit(browser, served, `/tasks/${task}`);
  // Whoever prints at this moment, by name.
  await page.getByRole("heading", { name: `b executor ${second}` }).getByRole("link").waitFor();

  await part(page, "a").click();
  const about = page.getByRole("region", { name: "About a" });
  await page.waitForFunction(() => document.activeElement?.matches(".atom-details h3"));
  await about.getByRole("link", { name: `executor ${first}` }).waitFor();
  expect(await about.getByRole("link", { name: `executor ${second}` }).count()).toBe(0);
  expect(await faults(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await about.waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.getAttribute("data-id"))).toBe("a");

  await page.setViewportSize(PHONE);
  for (const [atom, run] of [["a", first], ["b", second]] as const) await page.locator(".runs li").filter({ hasText: run }).locator("code").getByText(atom, { exact: true }).waitFor();
  await page.locator(".runs li").filter({ hasText: first }).getByRole("link").click();
  await page.getByText(/^Task .*, item a$/).waitFor();
  await served.ask("POST", `/v1/tasks/${task}/cancel`, {});
  expect(complaints).toEqual([]);
  await context.close();
});

test("a conversation goes on in a new task from the turn that is chosen", async () => {
  const task = await served.begun("Write a report", { base_case: ["file: output/report.md"] });
  await served.at_last(`/v1/tasks/${task}`, over);
  const { page, context, complaints } = await visit(browser, served, `/executions/${await execution(task)}`);
  await page.getByText("Began").waitFor();
  expect(await page.getByRole("button", { name: "Recording" }).count()).toBe(0);
  await page.getByRole("button", { name: "Fork from here …" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Fork from here" });
  await dialog.getByText("turn 1", { exact: true }).waitFor();
  await dialog.getByLabel("What it is to do now").fill("And a note on it");
  await dialog.getByRole("button", { name: "Begin" }).click();
  await page.getByRole("heading", { name: "And a note on it" }).waitFor();
  expect(page.url()).not.toContain(task);
  expect(complaints).toEqual([]);
  await context.close();
});

test("all of a large output is read from any place, and searched", async () => {
  const task = await served.begun("Print a lot");
  await served.at_last(`/v1/tasks/${task}`, over);
  const { page, context, complaints } = await visit(browser, served, `/executions/${await execution(task)}`);
  await page.locator("details.step").filter({ hasText: "bash" }).first().locator("summary").click();
  await page.getByRole("button", { name: "All of it …" }).click();
  const whole = page.getByLabel("The whole output");
  await whole.getByText("0 B to").waitFor();
  await whole.getByRole("button", { name: "End" }).click();
  await whole.getByText("60000").waitFor();
  await whole.getByRole("button", { name: "Beginning" }).click();
  await whole.getByLabel("Find in the whole output").fill("31234");
  await page.keyboard.press("Enter");
  await whole.locator("pre").filter({ hasText: /^31234/ }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("a new task is asked for with all that can be said of it", async () => {
  const { page, context } = await visit(browser, served, "/tasks");
  await page.getByRole("button", { name: "New task …" }).click();
  await page.getByLabel("What is to be done").fill("Write a note with limits");
  await page.getByLabel("Files to attach").setInputFiles([{ name: "brief.txt", mimeType: "text/plain", buffer: Buffer.from("the brief") }]);
  await page.getByText("brief.txt").waitFor();
  await page.getByText("Where, by whom, and for how much").click();
  await page.getByLabel("Attempts at most").fill("1");
  await page.getByLabel("Over in any case").fill("2h");
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/v1/tasks"));
  await page.getByRole("button", { name: "Begin" }).click();
  expect((await sent).postDataJSON()).toMatchObject({ limits: { max_attempts: 1 }, deadline: "2h", attachments: [{ name: "brief.txt", content: "dGhlIGJyaWVm" }] });
  await page.getByRole("heading", { name: "Write a note with limits" }).waitFor();
  await context.close();
});
