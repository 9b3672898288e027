// A piece of work in the midst of the conversation: how it stands, what it is doing, what it waits for, what came of it.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { isFor, questions, task as taskQuery, waiting } from "../api/queries";
import type { TaskResult } from "../api/types";
import { Standing } from "../parts/Badge";
import { Deliverables } from "../task/Deliverables";
import { ResultSummary } from "../task/ResultSummary";
import { TaskActions } from "../task/TaskActions";
import { Markdown } from "../text/Markdown";
import { firstLine } from "../text/format";
import { Visible } from "../text/Visible";
import { LiveWork } from "./LiveNow";
import type { LiveWords } from "./live";

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
      {(waitsFor.length > 0 || live.length > 0 || result !== null) && (
        <div className="inside">
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
