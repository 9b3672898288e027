// A change of what was agreed on: first what it comes to is shown, and only a yes to that changes anything.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { post } from "../api/client";
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
  const send = (confirmed: boolean) =>
    post("/v1/tasks/{task}/redirect", { ...(change ? { change: change as never } : {}), ...(planner ? { planner } : {}), note: planner ? "" : words, confirmed }, { path: { task } });
  const preview = useMutation({ mutationFn: () => send(false) });
  const confirm = useMutation({
    mutationFn: () => send(true),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ["task"] }),
  });
  const { mutate: look } = preview;
  useEffect(() => look(), [look]);
  const shown = preview.data as { description: string; interrupted: number; undone: string[]; worst_case: Bound | null; message?: string | null } | undefined;
  return (
    <Dialog label="Redirect" onClose={onClose}>
      <div className="stack">
        <h2><Visible text={shown?.description ?? words} /></h2>
        <Refused error={preview.error ?? confirm.error} />
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
              <button type="button" className="primary" disabled={confirm.isPending} onClick={() => confirm.mutate()}>Change it</button>
              <button type="button" onClick={onClose}>Back</button>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}
