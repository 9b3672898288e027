// What hands do on the keys, and what is heard of it.
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { useArmed } from "./armed";
import { Dialog } from "./Dialog";
import { placeOf } from "./DocumentField";
import { setLetters, useKeys } from "./keys";
import { countInTab, nameTab } from "./title";

const pressed: string[] = [];
const place = document.body.appendChild(document.createElement("div"));
let root: ReturnType<typeof createRoot>;

function Hands({ name }: { name: string }) {
  const isArmed = useArmed();
  useKeys({ a: () => pressed.push(`${name} a`), Escape: () => pressed.push(`${name} Escape`) }, isArmed);
  return null;
}

const press = (key: string) => window.dispatchEvent(new KeyboardEvent("keydown", { key }));
const shows = (name: string) => act(() => root.render(<Hands key={name} name={name} />));
const passes = (millis: number) => act(() => vi.advanceTimersByTime(millis));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame"] });
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  root = createRoot(place);
  pressed.length = 0;
});
afterEach(() => {
  act(() => root.unmount());
  vi.useRealTimers();
  vi.unstubAllGlobals();
  setLetters(true);
});

test("the second half of a double press does not answer what has just come up", () => {
  shows("first");
  passes(1_000);
  press("a");
  shows("second");
  press("a");
  passes(300);
  press("a");
  expect(pressed).toEqual(["first a"]);
  passes(1_000);
  press("a");
  expect(pressed).toEqual(["first a", "second a"]);
});

test("keys of a single letter can be switched off", () => {
  shows("card");
  passes(1_000);
  setLetters(false);
  press("a");
  press("Escape");
  expect(pressed).toEqual(["card Escape"]);
});

describe("a dialog", () => {
  const closed = vi.fn();
  const at = (selector: string): HTMLElement => place.querySelector<HTMLElement>(selector) ?? expect.unreachable(`there is no ${selector}`);
  const happens = (selector: string, event: Event) => act(() => void at(selector).dispatchEvent(event));
  const mouse = (selector: string, type: string) => happens(selector, new MouseEvent(type, { bubbles: true }));
  const escape = () => happens("dialog", new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }));
  const opens = (children: ReactNode) => act(() => root.render(<Dialog label="A dialog" onClose={closed}>{children}</Dialog>));
  const form = <form><h2>Words</h2><textarea /></form>;
  beforeEach(() => void closed.mockClear());

  test("is closed by a click beside it, and not by one that began in it", () => {
    opens(form);
    mouse("h2", "mousedown");
    mouse("dialog", "click");
    expect(closed).not.toHaveBeenCalled();
    mouse("dialog", "mousedown");
    mouse("dialog", "click");
    expect(closed).toHaveBeenCalledTimes(1);
    escape();
    expect(closed).toHaveBeenCalledTimes(2);
  });

  test("keeps what was written in it: a click beside it does nothing, and Escape asks", () => {
    opens(form);
    happens("textarea", new Event("input", { bubbles: true }));
    mouse("dialog", "mousedown");
    mouse("dialog", "click");
    escape();
    expect(closed).not.toHaveBeenCalled();
    expect(at(".leave").textContent).toContain("kept nowhere else");
    escape();
    expect(place.querySelector(".leave")).toBeNull();
    escape();
    mouse(".leave .danger", "click");
    expect(closed).toHaveBeenCalledTimes(1);
  });

  test("in which something is only looked for is closed at once", () => {
    opens(<input type="text" role="combobox" aria-label="Go to" aria-controls="x" aria-expanded="true" />);
    happens("input", new Event("input", { bubbles: true }));
    escape();
    expect(closed).toHaveBeenCalledTimes(1);
  });

  test("stays where a file in it was not chosen after all", () => {
    opens(<form><input type="file" /></form>);
    happens("input", new Event("cancel", { bubbles: true }));
    expect(closed).not.toHaveBeenCalled();
  });

  test("has keys of its own, and those of the page rest behind it", () => {
    act(() => root.render(<><Hands name="page" /><Dialog label="A dialog" onClose={closed}><Hands name="dialog" /></Dialog></>));
    passes(1_000);
    press("a");
    expect(pressed).toEqual(["dialog a"]);
  });
});

test("the tab says how much waits", () => {
  nameTab("Review");
  countInTab(3);
  expect(document.title).toBe("(3) Review · Windlass");
  nameTab("Tasks");
  countInTab(0);
  expect(document.title).toBe("Tasks · Windlass");
});

test("a place in a document is where its reader says", () => {
  const text = "one\n🎉 two\nthree";
  expect([placeOf(text, 1, 1), placeOf(text, 2, 3), placeOf(text, 3, 2), placeOf(text, 9, 9)]).toEqual([0, 7, 12, text.length]);
});
