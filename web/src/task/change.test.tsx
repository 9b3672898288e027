// A change is said, shown what it comes to, and made: what was said of it is there until it is made.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Change } from "./Change";

const place = document.body.appendChild(document.createElement("div"));
const closed = vi.fn();
let root: ReturnType<typeof createRoot>;
let answer: () => Response;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", () => Promise.resolve(answer()));
  closed.mockClear();
  root = createRoot(place);
});
afterEach(() => {
  act(() => root.unmount());
  vi.unstubAllGlobals();
});

const graph = { task_id: "t", title: "whole", done: 0, items: 0, standing: "running", revision: 1, parts: [] };
const dialog = (label: string) => place.querySelector(`dialog[aria-label="${label}"]`);
const redirect = () => dialog("Redirect");
const field = (which: string) => place.querySelector<HTMLInputElement>(`dialog ${which}`) ?? expect.unreachable(`there is no ${which}`);
const writes = (which: string, words: string) => {
  const kind = which === "textarea" ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
  Object.getOwnPropertyDescriptor(kind, "value")?.set?.call(field(which), words);
  field(which).dispatchEvent(new Event("input", { bubbles: true }));
};
const presses = (within: Element | null, name: string) => act(async () => [...(within?.querySelectorAll("button") ?? [])].find((button) => button.textContent === name)?.click());
const settles = (what: () => void) => act(() => vi.waitFor(what));

async function said() {
  await act(async () => root.render(<QueryClientProvider client={new QueryClient()}><Change task="t" graph={graph} onClose={closed} /></QueryClientProvider>));
  await act(async () => {
    writes("input", "docs");
    writes("textarea", "Write the pages.");
  });
  await act(async () => field("form").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true })));
}

test("one that is refused can be left, and what was written is there", async () => {
  answer = () => Response.json({ detail: "there is a part of that name", code: "invalid" }, { status: 422 });
  await said();
  await settles(() => expect(redirect()?.textContent).toContain("There is a part of that name."));
  await presses(redirect(), "Back");
  expect([redirect(), closed.mock.calls.length]).toEqual([null, 0]);
  expect([field("input").value, field("textarea").value]).toEqual(["docs", "Write the pages."]);
});

test("what was written of one kind is there when one comes back from another", async () => {
  answer = () => Response.json({ goal: "x", bindings: [] });
  await act(async () => root.render(<QueryClientProvider client={new QueryClient()}><Change task="t" graph={graph} onClose={closed} /></QueryClientProvider>));
  await act(async () => writes("input", "docs"));
  await presses(place, "The limits");
  await presses(place, "One more part");
  expect(field("input").value).toBe("docs");
});

test("one that is not made after all can be gone on with, and one that is made closes both", async () => {
  answer = () => Response.json({ description: "Add docs", changes: ["+ docs"], interrupted: 0, undone: [], risk_level: "low", seen: "s", worst_case: null });
  await said();
  await settles(() => expect(redirect()?.textContent).toContain("+ docs"));
  await presses(redirect(), "Back");
  expect([redirect(), closed.mock.calls.length, field("input").value]).toEqual([null, 0, "docs"]);
  await act(async () => field("form").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true })));
  await settles(() => expect(redirect()?.textContent).toContain("+ docs"));
  await presses(redirect(), "Change it");
  await settles(() => expect(closed).toHaveBeenCalledTimes(1));
});
