import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { LiveWords } from "./live";
import { Story } from "./Story";
import type { Story as Told } from "./story";

const drawn: string[] = [];
vi.mock("../text/Markdown", () => ({ Markdown: ({ text }: { text: string }) => (drawn.push(text), text) }));
vi.mock("./WorkCard", () => ({ WorkCard: ({ task, live }: { task: string; live: LiveWords[] }) => (drawn.push(task), live.map(({ text }) => text).join()) }));

const place = document.body.appendChild(document.createElement("div"));
let grown: () => void = () => undefined;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("ResizeObserver", class {
    constructor(act: () => void) {
      grown = act;
    }
    observe() {}
    disconnect() {}
  });
});
afterEach(() => vi.unstubAllGlobals());

const at = "2026-11-18T09:00:00Z";
const story: Told = {
  isThinking: false,
  items: [
    { kind: "said", key: "1", by: "windlass", words: "hello", at },
    { kind: "task", key: "2", task: "one", at },
    { kind: "task", key: "3", task: "other", at },
  ],
};
const saying = (text: string): LiveWords => ({ execution: "e", task: "one", text, reasoning: "", printed: [], note: "", hasHole: false });

test("at each word that is being said that is drawn anew to which it belongs, and the page moves when it grew", () => {
  const root = createRoot(place);
  const scrolled = vi.spyOn(window, "scrollTo").mockImplementation(() => undefined);
  const draws = (live: LiveWords[]) => act(() => root.render(<Story story={story} live={live} hasEarlier={false} isReading={false} onEarlier={() => undefined} />));
  draws([]);
  expect(drawn).toEqual(["hello", "one", "other"]);
  drawn.length = 0;
  scrolled.mockClear();
  for (const word of ["a", "a b", "a b c"]) draws([saying(word)]);
  expect(drawn).toEqual(["one", "one", "one"]);
  expect(place.textContent).toContain("a b c");
  expect(scrolled).not.toHaveBeenCalled();
  grown();
  expect(scrolled).toHaveBeenCalledTimes(1);
  act(() => root.unmount());
});
