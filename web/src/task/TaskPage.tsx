// One task: what it is for, how far it has come and by which ways, what it promised and what it used, who worked on it.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { lazy, Suspense } from "react";

import { isFor, questions, task as taskQuery, waiting } from "../api/queries";
import type { TaskResult } from "../api/types";
import { Ago } from "../parts/Ago";
import { Standing } from "../parts/Badge";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { Loading } from "../parts/States";
import { short, words } from "../text/format";
import { Markdown } from "../text/Markdown";
import { Visible } from "../text/Visible";
import { Deliverables } from "./Deliverables";
import { Executions } from "./Executions";
import { Now } from "./Now";
import { Promised } from "./Promised";
import { Purpose } from "./Purpose";
import { ResultSummary } from "./ResultSummary";
import { Steer } from "./Steer";
import { TaskActions } from "./TaskActions";
import { Trail } from "./Trail";
import "./Task.css";
import "../stream/Stream.css";

const Graph = lazy(() => import("./Graph"));

export function TaskPage() {
  const { task: id } = useParams({ from: "/tasks/$task" });
  const found = useQuery(taskQuery(id));
  const [cards, asked] = [useQuery(waiting).data ?? [], useQuery(questions).data ?? []];
  const waitsFor = [...cards, ...asked].filter(isFor(id));
  return (
    // What was begun to be said to one is not said to the next.
    <Shown key={id} query={found} what="the task">
      {(task) => {
        const result = task.result as TaskResult | null;
        const isOver = result !== null;
        return (
          <Page title={task.title || "Task"} wide beside={<div className="row"><Standing standing={task.standing} />{!task.part_of && <TaskActions task={task} />}</div>}>
            <p className="muted small task-facts">
              {short(task.task_id)} · begun <Ago at={task.created_at} /> · in <code><Visible text={task.workspace} /></code>
            </p>
            {task.part_of && (
              <p className="muted task-facts">
                A part ({words(task.part_of.kind)}{task.part_of.atom && <>, <code><Visible text={task.part_of.atom} /></code></>}) of <Link to="/tasks/$task" params={{ task: task.part_of.root }} {...(task.part_of.atom ? { search: { atom: task.part_of.atom } } : {})}><Visible text={task.part_of.title || short(task.part_of.root)} /></Link>, with which it rests and ends.
              </p>
            )}
            {waitsFor.map((one) => (
              <p key={one.id} className="waits">It waits for you: <Link to="/review/$id" params={{ id: one.id }}>{one.kind === "card" ? "decide in Review" : "answer in Review"}</Link></p>
            ))}
            <div className="task-page">
              <div className="stack">
                {task.planned && (
                  <section className="panel graph" aria-label="The work">
                    <Suspense fallback={<Loading what="the graph" />}><Graph task={id} /></Suspense>
                  </section>
                )}
                {!isOver && <Now task={id} />}
                {isOver && (
                  <section className="panel">
                    <header><h2>What came of it</h2></header>
                    <div className="body stack">
                      {result.final_message && <Markdown text={result.final_message} />}
                      <ResultSummary result={result} />
                      <Deliverables task={id} />
                    </div>
                  </section>
                )}
                <Executions task={id} />
              </div>
              <aside className="stack" aria-label="About it">
                {!isOver && <Steer task={id} isPlanned={task.planned} />}
                {task.planned && <Promised task={id} />}
                <Purpose task={id} goal={task.goal} />
                {task.planned && <Trail task={id} />}
              </aside>
            </div>
          </Page>
        );
      }}
    </Shown>
  );
}
