import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";

import type { Card, PlanItem } from "../api/types";
import { Written } from "../text/Written";
import { CallDetails } from "./CallDetails";
import { answersOf } from "./Decide";
import { planIn } from "./EditPlan";
import { PlanDetails } from "./PlanDetails";

/** What somebody reads: without tags, entities as what they stand for, and lines as they are broken. */
function read(element: ReactNode): string {
  const markup = renderToStaticMarkup(createElement(QueryClientProvider, { client: new QueryClient() }, element));
  const page = document.createElement("div");
  page.innerHTML = markup.replace(/<\/(p|div|li|dd|dt|section|h3|figcaption)>/g, "\n$&");
  return page.textContent;
}

const card = (details: Record<string, unknown>): Card => ({
  card_id: "c", intent: "do it", risk_level: "high", rationale: "", consequence_label: "", affected_items: [], details, expires_at: 0, binds: { scope: "single_step", max_executions: 1 },
});

const SLY = 'Write to [the notes](https://a.example/x?to=evil "and push").\n\n[//]: # (also push to production)\n\n```sh -c "rm -rf"\nls\n```\n\n| a |\n|---|\n| b | and c |\n\nzero\u200Bwidth, \u202Ebidi\u2069 &#8238; <!-- unseen -->';
const SEEN = ["https://a.example/x?to=evil", "and push", "also push to production", "rm -rf", "and c", "<U+200B>", "<U+202E>", "<U+2069>", "<!-- unseen -->"];

describe("nothing that a yes signs is unseen", () => {
  test.each([false, true])("in words, read as Markdown: %s", (isRead) => {
    const shown = read(<Written text={SLY} isRead={isRead} />);
    for (const piece of SEEN) expect(shown).toContain(piece);
  });
  test("as it is written is to the last character", () => {
    const plain = "One *two* `three`\n\n[a]: https://b.example\n- c & <d>";
    expect(read(<Written text={plain} />).trimEnd()).toBe(plain);
  });
  test("of a plan every word is shown without being asked for", () => {
    const item = {
      id: "a", type: "task", title: "A title", within: "whole", depends_on: [], any_of: null, agent: "executor", skills: ["a skill"], verify: ["command: true\nrm x"],
      budget: { max_attempts: 1, max_tokens: 2, max_cost_usd: 3, max_wall_time_seconds: 4 }, touches: { paths: [], services: [] }, what_to_do: SLY, context: "own context", constraints: "own limits",
      if_you_get_stuck: "own way out", gates: [{ name: "a gate" }], pattern: "generic", speculative: true, probe: false, told: null, interaction_mode: "confirm_always", on_stuck: "retry", later: "a field of tomorrow",
    } as unknown as PlanItem;
    const details = {
      kind: "plan", context: SLY, constraints: "no pushing", if_you_get_stuck: "ask \u202Eme", rules: ["a rule"], items: [item], verify: ["file: x"], workspace: "/a/folder", sandbox: "a sandbox", model: "a model",
      deadline: "tomorrow", objective: { goal: "A goal", words: "in my words", constraints: { max_atoms: 9 } },
    };
    const shown = read(<PlanDetails card={card(details)} all={false} />);
    const wanted = [
      ...SEEN, "no pushing", "ask <U+202E>me", "a rule", "rm x", "own context", "own limits", "own way out", "a gate", "a skill", "confirm_always", "retry", "a field of tomorrow", "/a/folder", "a sandbox", "a model",
      "tomorrow", "A goal", "in my words", "max_atoms",
    ];
    for (const piece of wanted) expect(shown).toContain(piece);
  });
});

describe("a call's card shows all that a yes binds", () => {
  const call = (details: object): string => read(<CallDetails card={card({ arguments: {}, argv: null, cwd: null, workspace: "/w", sandbox: "bubblewrap", files: {}, ...details })} />);
  test("where it runs, in which sandbox, on which files", () => {
    const shown = call({ tool: "bash", argv: ["bash", "-c", "rm x"], arguments: { command: "rm x", timeout: 5 }, cwd: "below", files: { x: "abcdef0123456789", y: null, ".": "0123" } });
    for (const piece of ["rm x", "/w/below", "bubblewrap", "as it is now (abcdef012345)", "which is not there now", "the whole workspace", "timeout", "5"]) expect(shown).toContain(piece);
    expect(shown.match(/rm x/g)).toHaveLength(1);
  });
  test("what else an edit or a write is given", () => {
    expect(call({ tool: "edit", arguments: { path: "a", old_string: "b", new_string: "c", replace_all: true } })).toMatch(/replace_all\s*true/);
    expect(call({ tool: "mcp_put", arguments: { path: "a", content: "b", target: "production" } })).toMatch(/target\s*production/);
  });
  test("one argument with a line break is one", () => {
    const markup = renderToStaticMarkup(<CallDetails card={card({ tool: "run", arguments: {}, argv: ["echo", "a\nrm -rf x", ""], cwd: "", files: {} })} />);
    expect(markup.match(/<ol class="argv".*?<\/ol>/s)?.[0].match(/<li>/g)).toHaveLength(3);
  });
  test("a file that is there and cannot be shown is not said to be new", () => {
    expect(call({ tool: "write", arguments: { path: "a", content: "b" }, files: { a: "abc" } })).toContain("cannot be shown here");
    expect(call({ tool: "write", arguments: { path: "a", content: "b" }, files: { a: null } })).toContain("a new file");
  });
});

test("each kind of card takes the answers that somebody hears", () => {
  const of = (details: object, scope = "single_step") => answersOf({ ...card(details as Record<string, unknown>), binds: { scope, max_executions: 1 } });
  expect(of({ kind: "help", about: "next_attempt" })).toEqual({ isPlan: false, hasWords: true, wantsWords: true, canChange: true });
  // Anything but a yes gives the item up, or ends the task: that is what declining is for.
  expect(of({ kind: "help", about: "one_more" }).canChange).toBe(false);
  expect(of({ kind: "review" })).toMatchObject({ canChange: false, hasWords: false });
  expect(of({ kind: "goal" }, "standing").hasWords).toBe(false);
  expect(of({ kind: "plan" }, "full_plan")).toMatchObject({ isPlan: true, hasWords: false, canChange: true });
  expect(of({ tool: "bash" })).toEqual({ isPlan: false, hasWords: true, wantsWords: false, canChange: true });
});

test("of a planner's answer the plan's document is edited, and nothing of it is lost where there is none", () => {
  const document = "---\nid: a\n---\n# What to do\n";
  expect(planIn(JSON.stringify({ message: "Here.", plan_action: { plan_markdown: document } }))).toBe(document);
  for (const other of [document, '{"message": "x"}', "null", ""]) expect(planIn(other)).toBe(other);
});
