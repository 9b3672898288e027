// `g`, and then the key of a place. The second key is for that and for nothing else however late it comes: `a` after a pause would be a yes
// in Review. Whoever changes their mind presses Escape, or any key that is no place's, or the mouse.
import { useEffect, useRef, useState } from "react";

import { isWriting, useKeys } from "../parts/keys";
import { PLACES, type Place } from "./places";

/** Whether it waits for the second key. */
export function useGoing(go: (to: Place["to"]) => void): boolean {
  // Beside the state: the second key may come before anything is drawn.
  const going = useRef(false);
  const [isShown, setShown] = useState(false);
  const latest = useRef(go);
  latest.current = go;
  const set = (to: boolean) => {
    going.current = to;
    setShown(to);
  };
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (!going.current || event.isComposing || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
      set(false);
      if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Tab" || isWriting(event.target)) return;
      event.preventDefault();
      event.stopPropagation();
      const place = PLACES.find(({ key }) => key === event.key);
      if (place !== undefined) latest.current(place.to);
    };
    const clicked = () => going.current && set(false);
    window.addEventListener("keydown", pressed, { capture: true });
    window.addEventListener("pointerdown", clicked, { capture: true });
    return () => {
      window.removeEventListener("keydown", pressed, { capture: true });
      window.removeEventListener("pointerdown", clicked, { capture: true });
    };
  }, []);
  useKeys({ g: () => set(true) });
  return isShown;
}
