// Tells the desktop that something waits, while nobody looks at the page: that it does, and never what it says.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { questions, waiting } from "../api/queries";

export function DesktopNotices() {
  const cards = useQuery(waiting).data;
  const asked = useQuery(questions).data;
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (cards === undefined || asked === undefined) return;
    const now = new Set([...cards, ...asked].map(({ id }) => id));
    const fresh = known.current === null ? [] : [...now].filter((id) => !known.current?.has(id));
    known.current = now;
    if (fresh.length === 0 || document.visibilityState === "visible") return;
    if (!("Notification" in window) || Notification.permission !== "granted") return;
    const notice = new Notification("Windlass", { body: fresh.length === 1 ? "Something waits for your decision." : `${fresh.length} things wait for you.`, tag: "windlass-review" });
    notice.onclick = () => window.focus();
  }, [cards, asked]);
  return null;
}
