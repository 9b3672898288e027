import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { setLetters, useKeys } from "../parts/keys";
import { useGoing } from "./useGoing";

const did: string[] = [];
const place = document.body.appendChild(document.createElement("div"));
let root: ReturnType<typeof createRoot>;

function Page() {
  const isGoing = useGoing((to) => did.push(to));
  useKeys({ a: () => did.push("approved"), Escape: () => did.push("closed") });
  return <>{isGoing && <p>going</p>}<input /></>;
}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers();
  did.length = 0;
  root = createRoot(place);
  act(() => root.render(<Page />));
});
afterEach(() => {
  act(() => root.unmount());
  vi.useRealTimers();
  vi.unstubAllGlobals();
  setLetters(true);
});

const press = (key: string, more: KeyboardEventInit = {}, on: Element = document.body) => act(() => void on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more })));
const isSaid = () => place.textContent?.includes("going");

test("the key after g says where to go, however late it comes, and approves nothing", () => {
  press("g");
  expect(isSaid()).toBe(true);
  act(() => vi.advanceTimersByTime(3_600_000));
  press("a");
  expect([did, isSaid()]).toEqual([["/activity"], false]);
  press("a");
  expect(did).toEqual(["/activity", "approved"]);
});

test("any other key is taken as well, and ends it", () => {
  for (const key of ["Escape", "q", "Enter"]) {
    press("g");
    press(key);
    expect([did, isSaid()]).toEqual([[], false]);
  }
  press("g");
  press("Shift");
  press("g");
  expect(did).toEqual([]);
});

test("what is written, held with Ctrl, or comes after the mouse is what it always is", () => {
  press("g");
  press("a", {}, place.querySelector("input") ?? place);
  press("g");
  press("k", { ctrlKey: true });
  press("g");
  act(() => void window.dispatchEvent(new Event("pointerdown")));
  press("a");
  expect(did).toEqual(["approved"]);
});
