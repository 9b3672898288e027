// What was promised at most, and how much of it is used.
import { useQuery } from "@tanstack/react-query";

import { explanation } from "../api/queries";
import { duration, money } from "../text/format";
import { cost } from "./cost";

export function Promised({ task }: { task: string }) {
  const found = useQuery(explanation(task)).data;
  if (!found?.promised || !found.used) return null;
  const { promised, used } = found;
  const meters: [string, number | null, number, (count: number) => string][] = [
    ["Money", used.cost_usd, promised.cost_usd, money],
    ["Tokens", used.tokens, promised.tokens, (count) => count.toLocaleString("en")],
    ["Time", used.wall_time_seconds, promised.wall_time_seconds, duration],
    ["Attempts", used.attempts, promised.attempts, String],
  ];
  return (
    <section className="panel">
      <header><h2>Used of what was promised</h2></header>
      <div className="body meters">
        {meters.map(([name, has, most, told]) => {
          const part = has !== null && most > 0 ? Math.min(1, has / most) : 0;
          return (
            <div key={name} className="meter">
              <div className="spread"><span>{name}</span><span className="muted number">{has === null ? cost(null) : told(has)} of {told(most)}</span></div>
              <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={has === null ? `${name}: nobody knows how much is used` : `${name}: ${Math.round(part * 100)} % used`}>
                <rect className="track" width="100" height="6" />
                <rect className={part > 0.8 ? "used near" : "used"} width={part * 100} height="6" />
              </svg>
            </div>
          );
        })}
      </div>
    </section>
  );
}
