// A piece of work in the midst of the conversation: how it stands, what it is doing, what it waits for, what came of it.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { begunLast, graph, isFor, questions, task as taskQuery, waiting, worker } from "../api/queries";
import { InWords } from "../activity/InWords";
import { sentence } from "../activity/sentence";
import type { Task, TaskResult } from "../api/types";
import { Ago } from "../parts/Ago";
import { Standing } from "../parts/Badge";
import { Deliverables } from "../task/Deliverables";
import { ResultSummary } from "../task/ResultSummary";
import { TaskActions } from "../task/TaskActions";
import { Markdown } from "../text/Markdown";
import { firstLine } from "../text/format";
import { Visible } from "../text/Visible";
import { LiveWork } from "./LiveNow";
import type { LiveWords } from "./live";

/** Somebody may be at it, also where one of them waits. */
const AT_WORK = ["running", "waiting"];

export function WorkCard({ task: id, live }: { task: string; live: LiveWords[] }) {
  const { data: task } = useQuery(taskQuery(id));
  const [cards, asked] = [useQuery(waiting).data ?? [], useQuery(questions).data ?? []];
  const waitsFor = [...cards, ...asked].filter(isFor(id));
  if (task === undefined) return <div className="work"><header className="muted">Reading a task …</header></div>;
  const result = task.result as TaskResult | null;
  return (
    <section className="work" aria-label="Work">
      <header>
        <Standing standing={task.standing} />
        <Link to="/tasks/$task" params={{ task: id }}><Visible text={firstLine(task.goal)} /></Link>
        <span className="acts"><TaskActions task={task} /></span>
      </header>
      {(waitsFor.length > 0 || live.length > 0 || result !== null || AT_WORK.includes(task.standing)) && (
        <div className="inside">
          {AT_WORK.includes(task.standing) && <AtWork task={task} />}
          {waitsFor.map((one) => (
            <p key={one.id}>
              It waits for you: <Link to="/review/$id" params={{ id: one.id }}>{one.kind === "card" ? "decide in Review" : "answer in Review"}</Link>
            </p>
          ))}
          {live.map((words) => <LiveWork key={words.execution} words={words} />)}
          {result?.final_message && <Markdown text={result.final_message} />}
          {result !== null && <ResultSummary result={result} />}
          {result !== null && <Deliverables task={id} />}
        </div>
      )}
    </section>
  );
}

/** Also of work that says and prints nothing: how far it is, and what was begun last. */
function AtWork({ task: { task_id: id, planned } }: { task: Task }) {
  const last = useQuery(begunLast(id)).data;
  const [about, by = ""] = last?.stream.split("/") ?? [];
  const atom = useQuery({ ...worker(by), enabled: about === "execution" }).data?.atom;
  // Before anybody works on an item there may be nothing to be drawn.
  const { done, items } = useQuery({ ...graph(id), enabled: planned && (about === "graph" || !!atom) }).data ?? {};
  if (!last) return null;
  const told = sentence(last);
  return (
    <p className="at-work muted small">
      {items !== undefined && <span className="number">{done} of {items} done</span>}
      <span>{atom && <><code><Visible text={atom} /></code>: </>}<InWords says={told.says} />{told.quote !== undefined && <> <Visible text={told.quote} /></>} · <Ago at={last.at} /></span>
    </p>
  );
}
