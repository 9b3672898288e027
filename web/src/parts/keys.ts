// Keys that do something on a page. They rest while somebody writes, and while a dialog is open that is not theirs.
import { useEffect, useRef } from "react";

export type Keys = Record<string, () => void>;

export function useKeys(keys: Keys, on = true): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    if (!on) return;
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (isWriting(event.target) || (event.key === "Enter" && isPressed(event.target)) || document.querySelector("dialog[open]")) return;
      const act = latest.current[event.key];
      if (act === undefined || event.repeat) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [on]);
}

/** Enter is theirs that have the focus. */
const isPressed = (target: EventTarget | null): boolean => target instanceof Element && target.closest("a, button, summary") !== null;

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest(".xterm") !== null);
}
