// What is known of one part of the work, who worked on it, and what may be changed about it from here.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

import { executionsOf, explanation, objective } from "../api/queries";
import type { GraphAtom, GraphGroup, WorkGraph } from "../api/types";
import { Standing } from "../parts/Badge";
import { Icon } from "../parts/Icon";
import { useKeys } from "../parts/keys";
import { short } from "../text/format";
import { Visible } from "../text/Visible";
import { shown } from "../text/visible";
import { Redirect } from "./Redirect";
import { bound } from "./wanted";
import { wayKey, waysOf } from "./ways";

interface AtomDetailsProps {
  task: string;
  part: GraphAtom | GraphGroup;
  graph: WorkGraph;
  onClose(): void;
}

export function AtomDetails({ task, part, graph, onClose }: AtomDetailsProps) {
  const bindings = useQuery(objective(task)).data?.bindings ?? [];
  const { failed = [], given_up = [] } = useQuery(explanation(task)).data ?? {};
  const ways = waysOf(graph, given_up);
  const [change, setChange] = useState<{ what: object; words: string } | null>(null);
  const way = part.type === "atom" && part.or_group !== undefined ? ways.get(wayKey(part.or_group, part.id)) : undefined;
  const [said, setSaid] = useState<string | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const [opener] = useState(() => document.activeElement);
  useEffect(() => heading.current?.focus(), []);
  const close = () => {
    onClose();
    if (opener instanceof HTMLElement) opener.focus();
  };
  useKeys({ Escape: close });
  const binding = bindings.find(({ atom }) => atom === part.id);
  const isOver = ["verified", "completed", "failed", "cancelled"].includes(graph.standing);
  return (
    <section className="atom-details" aria-label={`About ${part.id}`}>
      <div className="spread">
        <h3 ref={heading} tabIndex={-1}><code><Visible text={part.id} /></code> {part.type === "atom" && <Standing standing={part.standing} />}</h3>
        <button type="button" className="quiet" aria-label="Close" onClick={close}><Icon name="close" /></button>
      </div>
      {part.type === "atom" ? (
        <>
          <p><Visible text={part.title} /></p>
          <dl className="facts small">
            {part.after.length > 0 && <><dt>After</dt><dd><Visible text={part.after.join(", ")} /></dd></>}
            {part.waits_for.length > 0 && <><dt>Waits for</dt><dd><Visible text={part.waits_for.join(", ")} /></dd></>}
            {part.or_group !== undefined && <><dt>One way to</dt><dd><Visible text={part.or_group} />{way !== undefined && ` (${way.rank} of ${way.of})`}</dd></>}
            {way?.fares === "given_up" && <><dt>Given up</dt><dd>{way.because === undefined ? "it failed" : <Visible text={way.because} />}</dd></>}
            {part.attempts !== null && <><dt>Attempts</dt><dd>{part.attempts.used} of {part.attempts.of}</dd></>}
            {part.note !== null && <><dt>Note</dt><dd><Visible text={part.note} /></dd></>}
            {failed.filter(({ atom }) => atom === part.id).map((one) => <div key={one.task_id} className="fact"><dt>Failed</dt><dd><Visible text={one.message} /></dd></div>)}
            {binding !== undefined && (
              <>
                <dt>Came to</dt>
                <dd><Visible text={binding.summary} />{binding.files.length > 0 && <div className="mono"><Visible text={binding.files.join(", ")} /></div>}</dd>
              </>
            )}
            <WorkedOn task={task} atom={part.id} />
          </dl>
          {!isOver && part.within !== undefined && (
            <p className="row">
              <button type="button" onClick={() => setChange({ what: { graph: { drop: [part.id] } }, words: `Drop ${part.id}` })}>Drop it …</button>
              {binding !== undefined && said === null && <button type="button" onClick={() => setSaid(binding.summary)}>It came to something else …</button>}
            </p>
          )}
          {said !== null && (
            <form
              className="stack"
              onSubmit={(event) => {
                event.preventDefault();
                setChange({ what: bound(part.id, said), words: `${part.id} came to something else` });
              }}
            >
              <label>What it came to; what rests on it is done again<textarea required value={said} onChange={(event) => setSaid(event.target.value)} /></label>
              <p className="row"><button type="submit" disabled={said.trim() === "" || said === binding?.summary}>See what follows …</button><button type="button" onClick={() => setSaid(null)}>Leave it</button></p>
            </form>
          )}
        </>
      ) : (
        <ol className="ways">
          {part.choices.map((choice) => {
            const { fares, because } = ways.get(wayKey(part.id, choice)) ?? { fares: "left" };
            return (
              <li key={choice}>
                <code><Visible text={choice} /></code> {fares === "taken" && <strong>is taken</strong>}
                {fares === "given_up" && <span className="muted">was given up{because !== undefined && <>: <Visible text={because} /></>}</span>}
                {!isOver && choice !== part.selected && (
                  <button type="button" onClick={() => setChange({ what: { graph: { select: { [part.id]: choice } } }, words: `Take ${choice} for ${part.id}` })}>Take {shown(choice)} …</button>
                )}
              </li>
            );
          })}
        </ol>
      )}
      {change !== null && <Redirect task={task} change={change.what} words={change.words} onClose={() => setChange(null)} onDone={() => { setChange(null); setSaid(null); }} />}
    </section>
  );
}

function WorkedOn({ task, atom }: { task: string; atom: string }) {
  const found = useInfiniteQuery(executionsOf(task));
  const runs = (found.data?.pages ?? []).flatMap((page) => page.executions).filter((run) => run.atom === atom);
  if (runs.length === 0 && !found.hasNextPage) return null;
  return (
    <>
      <dt>Worked on by</dt>
      <dd>
        {runs.map((run) => (
          <div key={run.execution_id}>
            <Link to="/executions/$execution" params={{ execution: run.execution_id }}><Visible text={run.agent_id ?? "agent"} /> {short(run.execution_id)}</Link> <Standing standing={String(run.lifecycle)} />
          </div>
        ))}
        {found.hasNextPage && <button type="button" className="quiet" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>Look further</button>}
      </dd>
    </>
  );
}
