// All tasks, the newest first.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";

import { tasks } from "../api/queries";
import type { TaskResult } from "../api/types";
import { Ago } from "../parts/Ago";
import { Standing } from "../parts/Badge";
import { More } from "../parts/More";
import { Page } from "../parts/Page";
import { Empty, Failed, Loading } from "../parts/States";
import { Visible } from "../text/Visible";
import { cost } from "./cost";
import { NewTask } from "./NewTask";
import "./Tasks.css";

export function TasksPage() {
  const found = useInfiniteQuery(tasks);
  const { new: isNew } = useSearch({ from: "/tasks" });
  const navigate = useNavigate({ from: "/tasks" });
  const all = found.data?.pages.flatMap((page) => page.tasks);
  return (
    <Page title="Tasks" wide beside={<button type="button" className="primary" onClick={() => void navigate({ search: { new: true } })}>New task …</button>}>
      {isNew && <NewTask onClose={() => void navigate({ search: {}, replace: true })} />}
      {found.isError && all === undefined && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.isPending && <Loading what="tasks" />}
      {all?.length === 0 && <Empty title="There are no tasks yet."><p>Ask for something in Stream, or begin one here.</p></Empty>}
      {all !== undefined && all.length > 0 && (
        <ul className="tasks">
          {all.map((task) => {
            const result = task.result as TaskResult | null;
            return (
              <li key={task.task_id}>
                <Link to="/tasks/$task" params={{ task: task.task_id }}>
                  <Standing standing={task.standing} />
                  <span className="goal"><Visible text={task.title} /></span>
                  <span className="muted small number">{result !== null && cost(result.cost_usd)}</span>
                  <span className="muted small when"><Ago at={task.created_at} /></span>
                </Link>
              </li>
            );
          })}
        </ul>
      )}
      <More of={found} says="Older" />
    </Page>
  );
}
