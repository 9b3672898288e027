// Says that something waits: how much of it in the browser's tab, and, while nobody looks at the page, on the desktop that it does, and
// never what it says; not while another tab is looked at that shows the same. Who follows the notice comes to Review.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { questions, waiting } from "../api/queries";
import { token } from "../api/token";
import type { Waiting } from "../api/types";
import { countInTab } from "../parts/title";
import { holdWhileInSight, isLookedAt, notify } from "./notices";

export function DesktopNotices() {
  const cards = useQuery(waiting).data;
  const asked = useQuery(questions).data;
  const navigate = useNavigate();
  /** By what they are: where the ones cannot be read the others are told all the same. */
  const known = useRef(new Map<Waiting["kind"], Set<string>>());
  useEffect(() => holdWhileInSight(token() ?? ""), []);
  useEffect(() => {
    const fresh = ([["card", cards], ["question", asked]] as const).flatMap(([kind, open]) => {
      if (open === undefined) return [];
      const before = known.current.get(kind);
      known.current.set(kind, new Set(open.map(({ id }) => id)));
      return before === undefined ? [] : open.map(({ id }) => id).filter((id) => !before.has(id));
    });
    countInTab((cards?.length ?? 0) + (asked?.length ?? 0));
    if (fresh.length === 0) return;
    const [only] = fresh;
    const follow = () => void (fresh.length === 1 && only !== undefined ? navigate({ to: "/review/$id", params: { id: only } }) : navigate({ to: "/review" }));
    void isLookedAt(token() ?? "").then((isLooked) => !isLooked && notify(fresh.length === 1 ? "Something waits for your decision." : `${fresh.length} things wait for you.`, follow));
  }, [cards, asked, navigate]);
  useEffect(() => () => countInTab(0), []);
  return null;
}
