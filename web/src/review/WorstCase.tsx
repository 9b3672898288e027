// What a yes can come to at most.
import type { WorstCase as Bound } from "../api/types";
import { duration, money, plural } from "../text/format";

export function WorstCase({ bound }: { bound: Bound }) {
  return (
    <section>
      <h3>At worst</h3>
      <dl className="bound">
        <div><dt>Money</dt><dd>{money(bound.cost_usd)}</dd></div>
        <div><dt>Time</dt><dd>{duration(bound.wall_time_seconds)}</dd></div>
        <div><dt>Tokens</dt><dd>{bound.tokens.toLocaleString("en")}</dd></div>
        <div><dt>Tries</dt><dd>{plural(bound.attempts, "attempt")}</dd></div>
      </dl>
    </section>
  );
}
