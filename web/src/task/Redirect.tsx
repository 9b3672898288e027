// A change of what was agreed on: first what it comes to is shown, and only a yes to that changes anything.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { post } from "../api/client";
import { asProblem } from "../api/problem";
import type { WorstCase as Bound } from "../api/types";
import { Dialog } from "../parts/Dialog";
import { Loading, Refused } from "../parts/States";
import { WorstCase } from "../review/WorstCase";
import { plural } from "../text/format";
import { Visible } from "../text/Visible";
import "../review/Review.css";

/** Either a change, or a planner who looked for one. */
export function Redirect({ task, change, planner, words, onClose }: { task: string; change?: object; planner?: string; words: string; onClose(): void }) {
  const queries = useQueryClient();
  const send = (confirmed: boolean, seen?: string) =>
    post("/v1/tasks/{task}/redirect", { ...(change ? { change: change as never } : {}), ...(planner ? { planner } : {}), note: planner ? "" : words, confirmed, ...(seen ? { seen } : {}) }, { path: { task } });
  const preview = useMutation({ mutationFn: () => send(false) });
  // What is confirmed is what was shown: where something has happened since, the server says so and changes nothing.
  const confirm = useMutation({
    mutationFn: () => send(true, preview.data?.seen ?? undefined),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ["task"] }),
  });
  const { mutate: look } = preview;
  useEffect(() => look(), [look]);
  const shown = preview.data as { description: string; interrupted: number; undone: string[]; worst_case: Bound | null; message?: string | null } | undefined;
  const isChanged = confirm.isError && asProblem(confirm.error).code === "changed";
  return (
    <Dialog label="Redirect" onClose={onClose}>
      <div className="stack">
        <h2><Visible text={shown?.description ?? words} /></h2>
        <Refused error={preview.error ?? confirm.error} />
        {isChanged && <p><button type="button" onClick={() => { confirm.reset(); look(); }}>Look at it as it is now</button></p>}
        {preview.isPending && <Loading what="what it would come to" />}
        {shown !== undefined && (
          <>
            {shown.message && <p><Visible text={shown.message} /></p>}
            <p>
              {shown.interrupted === 0 ? "Nobody is interrupted" : `${plural(shown.interrupted, "agent is", "agents are")} interrupted, and what they have not finished is discarded`};{" "}
              {shown.undone.length === 0 ? "nothing that is done is done again." : <>done again: <Visible text={shown.undone.join(", ")} />.</>}
            </p>
            {shown.worst_case !== null && <WorstCase bound={shown.worst_case} />}
            <div className="row">
              <button type="button" className="primary" disabled={confirm.isPending || isChanged} onClick={() => confirm.mutate()}>Change it</button>
              <button type="button" onClick={onClose}>Back</button>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}
