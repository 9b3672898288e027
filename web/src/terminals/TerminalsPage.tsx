// The terminals that are open, side by side, and what those showed that are closed.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { terminals } from "../api/queries";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { Empty, Loading } from "../parts/States";
import { short } from "../text/format";
import { Visible } from "../text/Visible";
import { Recordings } from "./Recordings";
import "./Terminals.css";

const LiveTerminal = lazy(() => import("./LiveTerminal"));
/** So many are shown without being asked for. */
const FIRST = 4;

export function TerminalsPage() {
  const found = useQuery({ ...terminals, refetchInterval: 10_000 });
  const [chosen, setChosen] = useState<string[] | null>(null);
  return (
    <Page title="Terminals" wide>
      <Shown query={found} what="terminals">
        {({ terminals: all }) => {
          const open = all.filter(({ alive }) => alive);
          if (open.length === 0) {
            return (
              <div className="stack">
                <Empty title="No terminal is open.">
                  <p>A task that is begun with <code>windlass run --terminal</code> has a screen of its own, and is here while it runs.</p>
                </Empty>
                <Recordings open={[]} />
              </div>
            );
          }
          const shown = chosen ?? open.slice(0, FIRST).map(({ execution_id }) => execution_id);
          const toggle = (id: string) => setChosen(shown.includes(id) ? shown.filter((one) => one !== id) : [...shown, id]);
          return (
            <div className="stack">
              <div className="chips row" role="group" aria-label="Which are shown">
                {open.map(({ execution_id: id, name }) => (
                  <span key={id} className="row">
                    <button type="button" aria-pressed={shown.includes(id)} onClick={() => toggle(id)}><Visible text={name ?? "terminal"} /> · {short(id)}</button>
                    <Link to="/executions/$execution" params={{ execution: id }}>execution</Link>
                  </span>
                ))}
              </div>
              <div className="terminals">
                {open.filter(({ execution_id }) => shown.includes(execution_id)).map(({ execution_id }) => (
                  <Suspense key={execution_id} fallback={<Loading what="a terminal" />}><LiveTerminal execution={execution_id} /></Suspense>
                ))}
              </div>
              <Recordings open={open.map(({ execution_id }) => execution_id)} />
            </div>
          );
        }}
      </Shown>
    </Page>
  );
}
