// Where another page is come to, the focus goes there and its name is said: whoever does not see the page change hears that it did.
import { useEffect, useRef, useState } from "react";

/** A page gives itself its name once it is drawn. */
const SETTLED = 250;

export function Arrival({ at }: { at: string }) {
  const before = useRef(at);
  const [name, setName] = useState("");
  useEffect(() => {
    if (before.current === at) return;
    before.current = at;
    const page = document.getElementById("page");
    // Whoever chooses in a list, or writes, goes on with that.
    const isBusy = document.activeElement instanceof HTMLElement && (/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || page?.contains(document.activeElement));
    if (!isBusy) page?.focus({ preventScroll: true });
    const timer = setTimeout(() => setName(document.title.replace(/ · Windlass$/, "")), SETTLED);
    return () => clearTimeout(timer);
  }, [at]);
  return <p className="sr" role="status" aria-label="Page">{name}</p>;
}
