// Words for those who work on it, or words that change what was agreed on, for which a planner looks for the change.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { post } from "../api/client";
import { Refused } from "../parts/States";
import { Sought } from "./Sought";

export function Steer({ task, isPlanned }: { task: string; isPlanned: boolean }) {
  const queries = useQueryClient();
  const [words, setWords] = useState("");
  const [isChange, setChange] = useState(false);
  const send = useMutation({
    mutationFn: async () => {
      if (isChange) await post("/v1/tasks/{task}/redirect", { words, note: "", confirmed: false }, { path: { task } });
      else await post("/v1/tasks/{task}/messages", { message: words }, { path: { task } });
      return isChange;
    },
    onSuccess: () => setWords(""),
    onSettled: () => queries.invalidateQueries({ queryKey: ["task", task, "objective"] }),
  });
  return (
    <section className="panel">
      <header><h2>Steer it</h2></header>
      <form
        className="body stack"
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        <textarea aria-label="What you say" rows={2} placeholder={isChange ? "What is to be different about what was agreed on …" : "They hear it before their next step …"} value={words} onChange={(event) => setWords(event.target.value)} />
        {isPlanned && (
          <label className="row small"><input type="checkbox" checked={isChange} onChange={(event) => setChange(event.target.checked)} /> it changes what was agreed on</label>
        )}
        <Refused error={send.error} />
        <div className="row">
          <button type="submit" className="primary" disabled={words.trim() === "" || send.isPending}>{isChange ? "Look for the change" : "Say it"}</button>
          {send.isSuccess && !send.data && <span className="muted small" role="status">It was kept, and will be heard.</span>}
        </div>
        {isPlanned && <Sought task={task} />}
      </form>
    </section>
  );
}
