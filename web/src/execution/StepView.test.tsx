import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import type { TurnStep } from "../api/types";
import { StepView } from "./StepView";

const markup = (step: TurnStep): string => renderToStaticMarkup(createElement(StepView, { step }));

test("what the agent heard, what was started and what was noticed does not look like its own words", () => {
  expect(markup({ step: "said", text: "mine" })).toContain("step said");
  expect(markup({ step: "heard", kind: "reply", text: "yours" })).toMatch(/step asked.*Somebody said.*yours/);
  expect(markup({ step: "noticed", text: "it repeats itself" })).toMatch(/step noted.*Noticed.*it repeats itself/);
  const started = markup({ step: "started", program: "codex", version: "1.2" });
  expect(started).toMatch(/step noted.*codex 1\.2.*was started/);
  expect(started).not.toContain("{");
});

test("a call that has not ended says what it waits for", () => {
  expect(markup({ step: "called", tool: "bash", arguments: { command: "rm x" }, approval: "asked", result: "", duration_ms: 0 })).toContain("waits for a yes");
  expect(markup({ step: "called", tool: "bash", arguments: { command: "rm x" }, result: "", duration_ms: 0 })).toContain("at work");
});
