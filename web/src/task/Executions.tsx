// Who worked on it and when, and how tokens and money went over time, as the server tells it.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { executionsOf, spending } from "../api/queries";
import type { Execution } from "../api/types";
import { Standing } from "../parts/Badge";
import { money, plural, short } from "../text/format";
import { Visible } from "../text/Visible";
import { cost } from "./cost";
import { Plot } from "./Plot";

export function Executions({ task }: { task: string }) {
  const found = useInfiniteQuery(executionsOf(task));
  const runs = found.data?.pages.flatMap((page) => page.executions) ?? [];
  if (runs.length === 0) return null;
  const begin = Math.min(...runs.map(began));
  const end = Math.max(begin + 1, ...runs.map(({ last_at }) => Date.parse(last_at)));
  const share = (at: number) => ((at - begin) / (end - begin)) * 100;
  return (
    <>
      <OverTime task={task} />
      <section className="panel">
        <header><h2>{found.hasNextPage ? `The first ${runs.length} executions` : plural(runs.length, "execution")}</h2></header>
        <ol className="runs">
          {runs.map((run) => (
            <li key={run.execution_id}>
              <Link to="/executions/$execution" params={{ execution: run.execution_id }}>
                <Standing standing={String(run.attention) !== "none" ? String(run.attention) : String(run.lifecycle)} />
                <span>{run.atom && <><code><Visible text={run.atom} /></code> </>}<Visible text={run.agent_id ?? "agent"} /> <span className="muted"><Visible text={run.model ?? ""} /> · {short(run.execution_id)}{run.parent && ` · for ${short(run.parent)}`}</span></span>
                <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                  <rect className="track" width="100" height="8" />
                  <rect className="span" x={share(began(run))} width={Math.max(1, share(Date.parse(run.last_at)) - share(began(run)))} height="8" />
                </svg>
                <span className="muted small number">{run.tokens.toLocaleString("en")} tokens<br />{cost(run.cost_usd)}</span>
              </Link>
            </li>
          ))}
        </ol>
        {found.hasNextPage && <p className="body"><button type="button" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>More</button></p>}
      </section>
    </>
  );
}

const began = (run: Execution): number => Date.parse(run.began_at ?? run.last_at);

export function OverTime({ task }: { task: string }) {
  const spent = useQuery(spending(task)).data;
  if (spent === undefined || spent.points.length < 2) return null;
  const at = (point: { at: string }) => Date.parse(point.at);
  return (
    <section className="panel">
      <header><h2>Over time</h2></header>
      <div className="body stack">
        <Plot name="Tokens" points={spent.points.map((point) => [at(point), point.tokens])} told={(count) => `${Math.round(count).toLocaleString("en")} tokens`} />
        <Plot name="Money" points={spent.points.map((point) => [at(point), point.cost_usd])} told={(usd) => `${money(usd)}${spent.unpriced ? " and more" : ""}`} />
        {spent.unpriced && <p className="muted small">An answer came from a model without a price: it cost more than is counted.</p>}
      </div>
    </section>
  );
}
