// One run of one agent: what it was told, what it said and called and heard, turn by turn, or record by record.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";

import { execution as executionQuery, whoami } from "../api/queries";
import { Ago } from "../parts/Ago";
import { Standing } from "../parts/Badge";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { Loading } from "../parts/States";
import { cost } from "../task/cost";
import { plural, short } from "../text/format";
import { Visible } from "../text/Visible";
import { Journal } from "./Journal";
import { Timeline } from "./Timeline";
import "./Execution.css";

const Replay = lazy(() => import("../terminals/Replay"));
const VIEWS = [[undefined, "Timeline"], ["journal", "Journal"], ["recording", "Recording"]] as const;

export function ExecutionPage() {
  const { execution: id } = useParams({ from: "/executions/$execution" });
  const { view } = useSearch({ from: "/executions/$execution" });
  const navigate = useNavigate({ from: "/executions/$execution" });
  const found = useQuery(executionQuery(id));
  const mayApprove = useQuery(whoami).data?.scopes.includes("approve") ?? false;
  return (
    <Shown key={id} query={found} what="the execution">
      {(run) => {
        const isOver = ["completed", "failed", "cancelled"].includes(String(run.lifecycle));
        const scope = run.scope as { id?: string; kind?: string } | null;
        return (
          <Page title={`${run.agent_id ?? "Agent"} · ${short(id)}`} wide beside={<Standing standing={String(run.lifecycle)} />}>
            <dl className="facts small run-facts">
              {scope?.kind === "task" && scope.id !== undefined && <><dt>For</dt><dd><Link to="/tasks/$task" params={{ task: scope.id }}>Task {short(scope.id)}</Link>{run.atom && <>, item <code><Visible text={run.atom} /></code></>}</dd></>}
              {run.parent && <><dt>Sent by</dt><dd><Link to="/executions/$execution" params={{ execution: run.parent }}>execution {short(run.parent)}</Link></dd></>}
              <dt>Asks</dt><dd><Visible text={run.model ?? ""} /></dd>
              {run.began_at && <><dt>Began</dt><dd><Ago at={run.began_at} />, {isOver ? "ended" : "last heard of"} <Ago at={run.last_at} /></dd></>}
              <dt>Used</dt><dd className="number">{run.tokens.toLocaleString("en")} tokens · {cost(run.cost_usd)} · {plural(run.records, "record")}</dd>
            </dl>
            <div className="chips views" role="group" aria-label="View">
              {VIEWS.filter(([name]) => name !== "recording" || run.recorded || view === "recording").map(([name, called]) => (
                <button key={called} type="button" aria-pressed={view === name} onClick={() => void navigate({ search: name === undefined ? {} : { view: name }, replace: true })}>{called}</button>
              ))}
            </div>
            {view === undefined && <Timeline execution={id} mayFork={mayApprove && !run.parent} />}
            {view === "journal" && <Journal execution={id} />}
            {view === "recording" && <Suspense fallback={<Loading what="the recording" />}><Replay execution={id} /></Suspense>}
          </Page>
        );
      }}
    </Shown>
  );
}
