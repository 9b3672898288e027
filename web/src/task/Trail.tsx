// Which ways were taken and why, and what people changed.
import { useQuery } from "@tanstack/react-query";

import { explanation, objective } from "../api/queries";
import { Ago } from "../parts/Ago";
import { Visible } from "../text/Visible";

export function Trail({ task }: { task: string }) {
  const { trail = [] } = useQuery(explanation(task)).data ?? {};
  const { corrections = [] } = useQuery({ ...objective(task), retry: false }).data ?? {};
  if (trail.length === 0 && corrections.length === 0) return null;
  return (
    <section className="panel">
      <header><h2>Ways and corrections</h2></header>
      <ol className="body trail">
        {trail.map((turn) => (
          <li key={turn.timestamp}>
            <strong>{turn.or_group}: {turn.selected}</strong> <span className="muted small"><Ago at={turn.timestamp} /></span>
            <div className="muted"><Visible text={turn.reason} /></div>
          </li>
        ))}
        {corrections.map((one) => (
          <li key={one.at}>
            <strong>It was changed</strong> <span className="muted small"><Ago at={one.at} /></span>
            <div className="muted"><Visible text={one.description} /></div>
          </li>
        ))}
      </ol>
    </section>
  );
}
