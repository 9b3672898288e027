import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";

import { type Goal, GoalContent } from "./GoalContent";

vi.mock("@tanstack/react-router", () => ({ Link: ({ to, params, children }: { to: string; params: Record<string, string>; children: React.ReactNode }) => <a href={to.replace(/\$\w+/, Object.values(params)[0] ?? "")}>{children}</a> }));

const goal: Goal = {
  type: "goal", goal: "green", goal_id: "g", title: "Keep it green", workspace: "/srv/shop", checks: ["make test", "file b exists"], what_to_do: "Mend it.\u202e", status: "active", schedule: "always_on",
  being_looked_at: false, looks: 3, fixes: 1, due: null, last: null, fix: null, card_id: "c0",
};
const told = (more: Partial<Goal>) => renderToStaticMarkup(<GoalContent goal={{ ...goal, ...more }} />);

test("what is to hold, where, and what whoever mends it is told, to the last character", () => {
  for (const words of ["Nobody has looked at it yet", "Keep it green", "make test", "file b exists", "/srv/shop", "Mend it.", "&lt;U+202E&gt;", 'href="/review/c0"']) expect(told({})).toContain(words);
});

test.each([
  [{ came_to: "holds" }, ["It held"]],
  [{ came_to: "broken", failed: ["make test"], task_id: "t1" }, ["It did not hold (", "make test", 'href="/tasks/t1"', "mends it"]],
  [{ came_to: "skipped", task_id: "t1" }, ["was not looked at", 'href="/tasks/t1"']],
  [{ came_to: "troubled", message: "no sandbox" }, ["could not be looked at", "no sandbox"]],
] as [Goal["last"], string[]][])("how it fared: %j", (last, words) => {
  for (const one of words) expect(told({ last })).toContain(one);
  expect(told({ last, fix: "t9" })).toContain('href="/tasks/t9"');
});
