// What may be wished of a task as it stands: whether it came about, the task says. Of a part nothing: it rests and ends with the whole.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { post } from "../api/client";
import { asProblem } from "../api/problem";
import type { Task } from "../api/types";
import { Sure } from "../parts/Sure";
import { Visible } from "../text/Visible";
import { Start } from "./Start";

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
    mutationFn: async (what: Exclude<Wish, "start">) => {
      const path = { task: task.task_id };
      if (what === "resume") await post("/v1/tasks/{task}/resume", undefined, { path });
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
      {wish.isError && asked === null && <span className="refused" role="alert"><Visible text={asProblem(wish.error).message} /></span>}
      {asked === "start" && <Start task={task.task_id} onClose={() => setAsked(null)} />}
      {asked === "cancel" && (
        <Sure question="Cancel this task?" says="It ends for good; what is done stays done." action="Cancel the task" wish={wish} onYes={() => wish.mutate("cancel")} onClose={() => setAsked(null)} />
      )}
    </>
  );
}
