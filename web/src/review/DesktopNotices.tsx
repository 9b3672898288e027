// Says that something waits: how much of it in the browser's tab, and, while nobody looks at the page, on the desktop that it does, and
// never what it says. Who follows the notice comes to Review.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { questions, waiting } from "../api/queries";
import { countInTab } from "../parts/title";

export function DesktopNotices() {
  const cards = useQuery(waiting).data;
  const asked = useQuery(questions).data;
  const navigate = useNavigate();
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (cards === undefined || asked === undefined) return;
    countInTab(cards.length + asked.length);
    const now = new Set([...cards, ...asked].map(({ id }) => id));
    const fresh = known.current === null ? [] : [...now].filter((id) => !known.current?.has(id));
    known.current = now;
    if (fresh.length === 0 || document.visibilityState === "visible") return;
    if (!("Notification" in window) || Notification.permission !== "granted") return;
    const notice = new Notification("Windlass", { body: fresh.length === 1 ? "Something waits for your decision." : `${fresh.length} things wait for you.`, tag: "windlass-review" });
    notice.onclick = () => {
      window.focus();
      const [only] = fresh;
      void (fresh.length === 1 && only !== undefined ? navigate({ to: "/review/$id", params: { id: only } }) : navigate({ to: "/review" }));
    };
  }, [cards, asked, navigate]);
  useEffect(() => () => countInTab(0), []);
  return null;
}
