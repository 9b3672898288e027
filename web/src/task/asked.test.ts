import { expect, test } from "vitest";

import { asked, NOTHING } from "./asked";

test("what was left out is not said", () => {
  expect(asked({ ...NOTHING, goal: "Do it" }, [])).toEqual({ goal: "Do it", base_case: [], planning: "none" });
});

test("everything that can be said is", () => {
  const all = { ...NOTHING, goal: "Do it", checks: "file: a\n\nfile: b", constraints: "no new files", workspace: "shop", agent: "codex", model: "m", deadline: "2h", deadline_action: "complete_partial", max_tokens: "5000", max_cost_usd: "0.5", max_attempts: "2", planning: "aligning" as const };
  expect(asked(all, [{ name: "a.txt", content: "YQ==", size: 1 }])).toEqual({
    goal: "Do it", base_case: ["file: a", "file: b"], planning: "aligning", constraints: ["no new files"], workspace: "shop", agent: "codex", model: "m",
    deadline: "2h", deadline_action: "complete_partial", limits: { max_tokens: 5000, max_cost_usd: 0.5, max_attempts: 2 }, attachments: [{ name: "a.txt", content: "YQ==" }],
  });
});
