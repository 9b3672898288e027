// Who worked on it and when, and how tokens and money went over time: told from the records.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { get } from "../api/client";
import { executionsOf } from "../api/queries";
import { Standing } from "../parts/Badge";
import { plural, short } from "../text/format";
import { Plot } from "./Plot";
import { type Spending, spendingOf } from "./spending";

const MOST_PAGES = 40;

export function Executions({ task }: { task: string }) {
  const runs = useQuery(executionsOf(task)).data?.executions ?? [];
  const spent = useQuery({ queryKey: ["task-executions", task, "spending"], queryFn: ({ signal }) => read(task, signal) }).data;
  if (runs.length === 0) return null;
  const [begin, end] = [spent?.begin ?? 0, Math.max(spent?.end ?? 1, (spent?.begin ?? 0) + 1)];
  const share = (at: number) => ((at - begin) / (end - begin)) * 100;
  return (
    <>
      {spent !== undefined && spent.points.length > 1 && (
        <section className="panel">
          <header><h2>Over time</h2></header>
          <div className="body stack">
            <Plot name="Tokens" points={spent.points.map(({ at, tokens }) => [at, tokens])} told={(count) => `${Math.round(count).toLocaleString("en")} tokens`} />
            {(spent.points.at(-1)?.cost ?? 0) > 0 && <Plot name="Money" points={spent.points.map(({ at, cost }) => [at, cost])} told={(usd) => `$${usd.toFixed(4)}`} />}
          </div>
        </section>
      )}
      <section className="panel">
        <header><h2>{plural(runs.length, "execution")}</h2></header>
        <ol className="runs">
          {runs.map((run) => {
            const span = spent?.spans.get(run.execution_id);
            return (
              <li key={run.execution_id}>
                <Link to="/executions/$execution" params={{ execution: run.execution_id }}>
                  <Standing standing={String(run.attention) !== "none" ? String(run.attention) : String(run.lifecycle)} />
                  <span>{run.agent_id} <span className="muted">{run.model} · {short(run.execution_id)}</span></span>
                  <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                    <rect className="track" width="100" height="8" />
                    {span !== undefined && <rect className="span" x={share(span[0])} width={Math.max(1, share(span[1]) - share(span[0]))} height="8" />}
                  </svg>
                  <span className="muted small number">{plural(run.records, "record")}</span>
                </Link>
              </li>
            );
          })}
        </ol>
      </section>
    </>
  );
}

async function read(task: string, signal: AbortSignal): Promise<Spending> {
  const records = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const found = await get("/v1/tasks/{task}/records", { path: { task }, query: { limit: 500, cursor } as never, signal });
    records.push(...found.records);
    if (!found.next) break;
    cursor = found.next;
  }
  return spendingOf(records as never);
}
