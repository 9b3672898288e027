// What has come up is where the keys are: the focus goes to it, unless somebody holds it elsewhere. Readers of screens then say it.
import { type RefObject, useEffect, useRef } from "react";

export function useFocus(): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const held = document.activeElement;
    // The page has it where somebody has just come to it.
    if (held === null || held === document.body || held.id === "page") heading.current?.focus({ preventScroll: true });
  }, []);
  return heading;
}
