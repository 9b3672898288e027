// Words for those who work on it, or words that change what was agreed on, for which a planner looks for the change.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { post } from "../api/client";
import { task as taskQuery } from "../api/queries";
import { Refused } from "../parts/States";
import { Redirect } from "./Redirect";

export function Steer({ task, isPlanned }: { task: string; isPlanned: boolean }) {
  const [words, setWords] = useState("");
  const [isChange, setChange] = useState(false);
  const [planner, setPlanner] = useState<string | null>(null);
  const [isShown, setShown] = useState(false);
  const looking = useQuery({ ...taskQuery(planner ?? ""), enabled: planner !== null });
  const send = useMutation({
    mutationFn: async () => {
      if (!isChange) {
        await post("/v1/tasks/{task}/messages", { message: words }, { path: { task } });
        return null;
      }
      const sought = (await post("/v1/tasks/{task}/redirect", { words, note: "", confirmed: false }, { path: { task } })) as { planner?: string | null };
      return sought.planner ?? null;
    },
    onSuccess: (found) => {
      setWords("");
      setPlanner(found);
    },
  });
  const isFound = looking.data !== undefined && looking.data.result !== null;
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
          {send.isSuccess && planner === null && <span className="muted small" role="status">It was kept, and will be heard.</span>}
          {planner !== null && !isFound && <span className="muted small" role="status">A planner looks for the change …</span>}
          {planner !== null && isFound && <button type="button" onClick={() => setShown(true)}>See what was found …</button>}
        </div>
      </form>
      {isShown && planner !== null && (
        <Redirect
          task={task}
          planner={planner}
          words="The change that was found"
          onClose={() => {
            setShown(false);
            setPlanner(null);
          }}
        />
      )}
    </section>
  );
}
