// Keys that do something on a page. They rest while somebody writes, and while a dialog is open that is not theirs. Those of a single letter
// can be switched off, for whoever speaks to their machine or rests a hand on the keys.
import { createContext, type RefObject, useContext, useEffect, useRef, useSyncExternalStore } from "react";

export type Keys = Record<string, () => void>;

/** The dialog that one is in. */
export const OwnDialog = createContext<RefObject<HTMLDialogElement | null>>({ current: null });

const NAME = "windlass.keys";
const told = new Set<() => void>();

export const lettersAreOn = (): boolean => localStorage.getItem(NAME) !== "off";

export function setLetters(on: boolean): void {
  if (on) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, "off");
  for (const each of told) each();
}

function subscribe(tell: () => void): () => void {
  told.add(tell);
  return () => told.delete(tell);
}

export const useLetters = (): boolean => useSyncExternalStore(subscribe, lettersAreOn);

export function useKeys(keys: Keys, on = true): void {
  const latest = useRef(keys);
  latest.current = keys;
  const own = useContext(OwnDialog);
  useEffect(() => {
    if (!on) return;
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (isWriting(event.target) || (event.key === "Enter" && isPressed(event.target)) || onTop() !== own.current) return;
      const act = latest.current[event.key];
      if (act === undefined || event.repeat || (event.key.length === 1 && !lettersAreOn())) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [on, own]);
}

/** The dialog that has the keys: one that was opened over another stands behind it in the page. */
const onTop = (): Element | null => [...document.querySelectorAll("dialog[open]")].at(-1) ?? null;

/** Enter is theirs that have the focus. */
const isPressed = (target: EventTarget | null): boolean => target instanceof Element && target.closest("a, button, summary") !== null;

export function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest(".xterm") !== null);
}
