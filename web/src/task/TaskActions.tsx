// What may be wished of a task as it stands: whether it came about, the task says.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { post } from "../api/client";
import { asProblem } from "../api/problem";
import type { Task } from "../api/types";
import { Dialog } from "../parts/Dialog";
import { Refused } from "../parts/States";

type Wish = "pause" | "resume" | "stop" | "cancel" | "start";
const OVER = ["verified", "completed", "failed", "cancelled"];

export function wishesOf(standing: string): Wish[] {
  if (OVER.includes(standing)) return [];
  if (standing === "agreed") return ["start", "cancel"];
  if (standing === "stopped") return ["resume", "start", "cancel"];
  if (standing === "paused" || standing === "interrupted") return ["resume", "cancel"];
  return ["pause", "stop", "cancel"];
}

const SAYS: Record<Wish, string> = { pause: "Pause", resume: "Resume", stop: "Stop", cancel: "Cancel …", start: "Start …" };

export function TaskActions({ task }: { task: Task }) {
  const queries = useQueryClient();
  const [asked, setAsked] = useState<"cancel" | "start" | null>(null);
  const wish = useMutation({
    mutationFn: async (what: Wish) => {
      const path = { task: task.task_id };
      if (what === "start") await post("/v1/tasks/{task}/start", { confirmed: true }, { path });
      else if (what === "resume") await post("/v1/tasks/{task}/resume", undefined as never, { path });
      else await post(`/v1/tasks/{task}/${what}`, { reason: "asked for in the console" }, { path });
    },
    onSuccess: () => setAsked(null),
    onSettled: () => queries.invalidateQueries({ queryKey: ["task"] }),
  });
  return (
    <>
      {wishesOf(task.standing).map((what) => (
        <button key={what} type="button" className="quiet" disabled={wish.isPending} onClick={() => (what === "cancel" || what === "start" ? setAsked(what) : wish.mutate(what))}>
          {SAYS[what]}
        </button>
      ))}
      {wish.isError && asked === null && <span className="refused" role="alert">{asProblem(wish.error).message}</span>}
      {asked !== null && (
        <Dialog label={asked === "cancel" ? "Cancel the task" : "Start the task"} onClose={() => setAsked(null)}>
          <div className="stack">
            <h2>{asked === "cancel" ? "Cancel this task?" : "Start this task?"}</h2>
            <p>{asked === "cancel" ? "It ends for good; what is done stays done." : "It begins as it was agreed on, with the worst case that was shown. Your yes is signed."}</p>
            <Refused error={wish.error} />
            <div className="row">
              <button type="button" className={asked === "cancel" ? "danger" : "primary"} disabled={wish.isPending} onClick={() => wish.mutate(asked)}>
                {asked === "cancel" ? "Cancel the task" : "Start it"}
              </button>
              <button type="button" onClick={() => setAsked(null)}>Back</button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
