// What was begun to a card or a question is there when one comes back to it.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactElement } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { setToken } from "../api/token";
import type { Waiting } from "../api/types";
import { useDrafts } from "../parts/drafts";
import { EditPlan } from "./EditPlan";
import { QuestionCard } from "./QuestionCard";

const place = document.body.appendChild(document.createElement("div"));
const sent = vi.fn();
let root: ReturnType<typeof createRoot>;
let client: QueryClient;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  sent.mockClear();
  setToken("anybody");
  client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(["task", "t", "document"], "d");
  client.setQueryData(["blob", "d"], new Blob(["One.\nTwo.\n"]));
});
afterEach(() => vi.unstubAllGlobals());

const opens = async (element: ReactElement) => {
  root = createRoot(place);
  await act(async () => root.render(<QueryClientProvider client={client}>{element}</QueryClientProvider>));
};
const leaves = () => act(() => root.unmount());
const field = (which: string) => place.querySelector<HTMLTextAreaElement>(which) ?? expect.unreachable(`there is no ${which}`);
const writes = (which: string, words: string) =>
  act(() => {
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set?.call(field(which), words);
    field(which).dispatchEvent(new Event("input", { bubbles: true }));
  });

function Editing({ card }: { card: string }) {
  return <EditPlan task="t" isObjective={false} drafts={useDrafts(`card/${card}`)} isBusy={false} onSend={sent} onBack={() => undefined} />;
}

test("a plan's document that was changed, and the words beside it, after Escape, Back or another card", async () => {
  await opens(<Editing card="one" />);
  await writes(".short", "Not two.");
  await writes(".document", "One.\n");
  await leaves();
  await opens(<Editing card="other" />);
  expect([field(".short").value, field(".document").value]).toEqual(["", "One.\nTwo.\n"]);
  await leaves();
  await opens(<Editing card="one" />);
  expect([field(".short").value, field(".document").value]).toEqual(["Not two.", "One.\n"]);
  act(() => place.querySelector<HTMLButtonElement>("button[type=submit]")?.click());
  expect(sent).toHaveBeenCalledWith("Not two.\n\nChange the plan's document like this:\n\n One.\n-Two.");
  await leaves();
  // Somebody else who signs in here does not read it.
  setToken("another");
  await opens(<Editing card="one" />);
  expect(field(".short").value).toBe("");
  await leaves();
});

test("an answer that was begun", async () => {
  const item = (id: string): Extract<Waiting, { kind: "question" }> => ({ kind: "question", id, task: "t", whose: null, askedAt: "2026-11-18T09:00:00Z", asked: { question: "Which?" } });
  await opens(<QuestionCard item={item("q")} onDone={sent} />);
  await writes("textarea", "The second");
  await leaves();
  await opens(<QuestionCard item={item("r")} onDone={sent} />);
  expect(field("textarea").value).toBe("");
  await leaves();
  await opens(<QuestionCard item={item("q")} onDone={sent} />);
  expect(field("textarea").value).toBe("The second");
  await leaves();
});
