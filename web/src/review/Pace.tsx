// A quiet word about the pace, where there is one, from what is on record of whoever looks. It holds nobody up.
import { useQuery } from "@tanstack/react-query";

import { decisions, whoami } from "../api/queries";
import { useNow } from "../parts/Ago";
import { cueOf, lookedAt } from "./pace";

export function Pace() {
  const me = useQuery(whoami).data?.name;
  const made = useQuery(decisions).data ?? [];
  const mine = made
    .filter(({ decision }) => decision.by === me)
    .map(({ card_id, risk_level, decision }) => ({
      at: Date.parse(decision.decided_at),
      seconds: lookedAt(card_id),
      risky: risk_level === "high" || risk_level === "irreversible",
      yes: decision.verdict === "approved" || decision.verdict === "conditional",
    }));
  const cue = cueOf(mine, useNow());
  return <div role="status">{cue !== null && <p className="muted small">{cue}</p>}</div>;
}
