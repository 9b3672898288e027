// What hands do on the keys, and what is heard of it.
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { useArmed } from "./armed";
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
