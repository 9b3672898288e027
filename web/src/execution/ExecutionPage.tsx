// One run of one agent: what it was told, what it said and called and heard, turn by turn, or record by record.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";

import { execution as executionQuery } from "../api/queries";
import { Standing } from "../parts/Badge";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { Loading } from "../parts/States";
import { plural, short } from "../text/format";
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
  return (
    <Shown key={id} query={found} what="the execution">
      {(run) => {
        const scope = run.scope as { id?: string; kind?: string } | null;
        return (
          <Page title={`${run.agent_id ?? "Agent"} · ${short(id)}`} wide beside={<Standing standing={String(run.lifecycle)} />}>
            <p className="muted small run-facts">
              {run.model} · {plural(run.records, "record")}
              {scope?.kind === "task" && scope.id !== undefined && <> · <Link to="/tasks/$task" params={{ task: scope.id }}>Task {short(scope.id)}</Link></>}
            </p>
            <div className="chips views" role="group" aria-label="View">
              {VIEWS.map(([name, called]) => (
                <button key={called} type="button" aria-pressed={view === name} onClick={() => void navigate({ search: name === undefined ? {} : { view: name }, replace: true })}>{called}</button>
              ))}
            </div>
            {view === undefined && <Timeline execution={id} />}
            {view === "journal" && <Journal execution={id} />}
            {view === "recording" && <Suspense fallback={<Loading what="the recording" />}><Replay execution={id} /></Suspense>}
          </Page>
        );
      }}
    </Shown>
  );
}
