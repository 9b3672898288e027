// A change of what was agreed on: first every difference is shown and what follows from it, and only a yes to that changes anything. What a
// planner says about the change that it found is the planner's, and no part of it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { post } from "../api/client";
import { asProblem } from "../api/problem";
import type { WorstCase as Bound } from "../api/types";
import { Risk } from "../parts/Badge";
import { Dialog } from "../parts/Dialog";
import { Loading, Refused } from "../parts/States";
import { Lines } from "../review/Lines";
import { WorstCase } from "../review/WorstCase";
import { plural } from "../text/format";
import { Visible } from "../text/Visible";
import "../review/Review.css";

interface RedirectProps {
  task: string;
  /** Either a change, or a planner who looked for one. */
  change?: object;
  planner?: string;
  words: string;
  onClose(): void;
  /** It is changed; where nothing is said about that, it is closed as well. */
  onDone?(): void;
}

export function Redirect({ task, change, planner, words, onClose, onDone = onClose }: RedirectProps) {
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const send = (confirmed: boolean, seen?: string) =>
    post("/v1/tasks/{task}/redirect", { ...(change ? { change } : {}), ...(planner ? { planner } : {}), note: planner ? "" : words, confirmed, ...(seen ? { seen } : {}) }, { path: { task } });
  const preview = useMutation({ mutationFn: () => send(false), onSuccess: () => setAsked(false) });
  // What is confirmed is what was shown: where something has happened since, the server says so and changes nothing.
  const confirm = useMutation({
    mutationFn: () => send(true, preview.data?.seen ?? undefined),
    onSuccess: onDone,
    onError: () => setAsked(false),
    onSettled: () => queries.invalidateQueries({ queryKey: ["task"] }),
  });
  const { mutate: look } = preview;
  useEffect(() => look(), [look]);
  const shown = preview.data;
  const bound = (shown?.worst_case ?? null) as Bound | null;
  const isGrave = ["high", "irreversible"].includes(shown?.risk_level ?? "");
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
            <h3 className="row">What is different {shown.risk_level && <Risk level={shown.risk_level} />}</h3>
            <Lines text={shown.changes.join("\n")} label="What is different" />
            {shown.message && (
              <>
                <h3>The planner says, and nobody has to believe it</h3>
                <blockquote><Visible text={shown.message} /></blockquote>
              </>
            )}
            <p>
              {shown.interrupted === 0 ? "Nobody is interrupted" : `${plural(shown.interrupted, "agent is", "agents are")} interrupted, and what they have not finished is discarded`};{" "}
              {shown.undone.length === 0 ? "nothing that is done is done again." : <>done again: <Visible text={shown.undone.join(", ")} />.</>}
            </p>
            {bound !== null && <WorstCase bound={bound} />}
            {isAsked && <p role="alert"><strong>The work may reach services beyond its folder. Is that meant?</strong></p>}
          </>
        )}
        <div className="row">
          {shown !== undefined && (isGrave && !isAsked
            ? <button type="button" className="primary" disabled={isChanged} onClick={() => setAsked(true)}>Change it …</button>
            : <button type="button" className={isGrave ? "danger" : "primary"} disabled={confirm.isPending || isChanged} onClick={() => confirm.mutate()}>{isGrave ? "Change it, that is meant" : "Change it"}</button>)}
          <button type="button" onClick={onClose}>Back</button>
        </div>
        {shown !== undefined && <p className="muted small">Your yes is signed for exactly this.</p>}
      </div>
    </Dialog>
  );
}
