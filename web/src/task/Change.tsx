// What is to be different about what was agreed on, said in fields: the goal, one more part, or the limits. It is shown what it comes to before
// anything changes.
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { objective } from "../api/queries";
import type { WorkGraph } from "../api/types";
import { Dialog } from "../parts/Dialog";
import { words } from "../text/format";
import { Redirect } from "./Redirect";
import { added, aimed, LIMITS, type Limits, limited } from "./wanted";

const KINDS = { part: "One more part", goal: "The goal", limits: "The limits" } as const;
type Kind = keyof typeof KINDS;
type Say = (what: object, meant: string) => void;

export function Change({ task, graph, onClose }: { task: string; graph: WorkGraph; onClose(): void }) {
  const [kind, setKind] = useState<Kind>("part");
  const [change, setChange] = useState<{ what: object; meant: string } | null>(null);
  const say: Say = (what, meant) => setChange({ what, meant });
  return (
    <>
      <Dialog label="Change what was agreed on" onClose={onClose}>
        <div className="stack">
          <h2>What is to be different?</h2>
          <div className="chips row" role="group" aria-label="What changes">
            {(Object.keys(KINDS) as Kind[]).map((one) => <button key={one} type="button" aria-pressed={one === kind} onClick={() => setKind(one)}>{KINDS[one]}</button>)}
          </div>
          {/* What was written of one stands there while another is looked at. */}
          <div hidden={kind !== "part"}><Part graph={graph} say={say} /></div>
          <div hidden={kind !== "goal"}><Goal task={task} say={say} /></div>
          <div hidden={kind !== "limits"}><TheLimits task={task} say={say} /></div>
          <p className="muted small">A part is dropped, a way taken and what a part came to corrected at the part itself, in the graph.</p>
        </div>
      </Dialog>
      {/* Over the form and not in its place: whoever comes back, or is refused, goes on with what was written. */}
      {change !== null && <Redirect task={task} change={change.what} words={change.meant} onClose={() => setChange(null)} onDone={onClose} />}
    </>
  );
}

function Form({ children, isSaid, onSay }: { children: React.ReactNode; isSaid: boolean; onSay(): void }) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSay();
  };
  return (
    <form className="stack" onSubmit={submit}>
      {children}
      <div className="row"><button type="submit" className="primary" disabled={!isSaid}>See what it comes to …</button></div>
    </form>
  );
}

function Part({ graph, say }: { graph: WorkGraph; say: Say }) {
  const [part, setPart] = useState({ id: "", description: "", checks: "", after: "", within: "" });
  const field = (name: keyof typeof part) => ({ value: part[name], onChange: (event: { target: { value: string } }) => setPart({ ...part, [name]: event.target.value }) });
  const holders = graph.parts.filter((one) => one.type === "atom" && !one.is_leaf && one.within !== undefined);
  return (
    <Form isSaid={part.id.trim() !== "" && part.description.trim() !== ""} onSay={() => say(added(part), `Add ${part.id.trim()}`)}>
      <label>Its name<input type="text" className="mono" required placeholder="docs" {...field("id")} /></label>
      <label>What is to be done<textarea required {...field("description")} /></label>
      <label>It is done when these checks pass, one a line<textarea className="mono" spellCheck={false} placeholder="file: docs/index.md" {...field("checks")} /></label>
      <label>After these parts<input type="text" className="mono" placeholder="data, web" {...field("after")} /></label>
      {holders.length > 0 && <label>Within<select {...field("within")}><option value="">the whole</option>{holders.map(({ id }) => <option key={id} value={id}>{id}</option>)}</select></label>}
    </Form>
  );
}

function Goal({ task, say }: { task: string; say: Say }) {
  const agreed = useQuery({ ...objective(task), retry: false }).data;
  const [goal, setGoal] = useState<string | null>(null);
  const [checks, setChecks] = useState("");
  const [done, setDone] = useState("");
  const what = aimed(goal ?? "", agreed?.goal ?? "", checks, done);
  const isSaid = Object.keys((what as { objective: object }).objective).length > 0;
  return (
    <Form isSaid={isSaid} onSay={() => say(what, "Change the objective")}>
      <label>The goal<textarea value={goal ?? agreed?.goal ?? ""} onChange={(event) => setGoal(event.target.value)} /></label>
      <label>Other checks, one a line<textarea className="mono" spellCheck={false} placeholder={(agreed?.base_case ?? []).map(({ name }) => name).join("\n")} value={checks} onChange={(event) => setChecks(event.target.value)} /></label>
      <label>Done means<textarea placeholder={agreed?.definition_of_done} value={done} onChange={(event) => setDone(event.target.value)} /></label>
    </Form>
  );
}

function TheLimits({ task, say }: { task: string; say: Say }) {
  const agreed = useQuery({ ...objective(task), retry: false }).data?.constraints;
  const [limits, setLimits] = useState<Limits>({});
  const isSaid = Object.values(limits).some((limit) => limit !== "");
  return (
    <Form isSaid={isSaid} onSay={() => say(limited(limits), "Change the limits")}>
      {LIMITS.map((name) => (
        <label key={name}>
          {words(name)}
          <input type="number" min={0} placeholder={String(agreed?.[name] ?? "as many as it takes")} value={limits[name] ?? ""} onChange={(event) => setLimits({ ...limits, [name]: event.target.value })} />
        </label>
      ))}
    </Form>
  );
}
