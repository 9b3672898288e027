// What comes up under somebody's fingers is not what they meant to press: it takes a yes or a no once it has been drawn, and could be seen.
import { useEffect, useState } from "react";

/** The second half of a double press is over by then, and nobody has read anything sooner. */
const TO_SEE = 500;

export function useArmed(): boolean {
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Not in a tab that nobody looks at: nothing is drawn there.
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => setArmed(true), TO_SEE);
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, []);
  return isArmed;
}
