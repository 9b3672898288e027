// What was agreed on, before it begins: the work, its checks and its worst case. Whoever says yes has it signed, and says which of it they
// saw; what has become something else since is shown anew.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { get, post } from "../api/client";
import { asProblem } from "../api/problem";
import type { Card } from "../api/types";
import { Risk } from "../parts/Badge";
import { Dialog } from "../parts/Dialog";
import { Loading, Refused } from "../parts/States";
import { PlanDetails } from "../review/PlanDetails";
import { WorstCase } from "../review/WorstCase";
import { Visible } from "../text/Visible";
import "../review/Review.css";

export function Start({ task, onClose }: { task: string; onClose(): void }) {
  const queries = useQueryClient();
  const [isAll, setAll] = useState(false);
  const [isAsked, setAsked] = useState(false);
  // Not a query: what somebody reads does not become something else under their eyes.
  const look = useMutation({ mutationFn: () => get("/v1/tasks/{task}/start", { path: { task } }), onSuccess: () => setAsked(false) });
  const { mutate } = look;
  useEffect(() => mutate(), [mutate]);
  const seen = look.data?.seen ?? undefined;
  const card = (look.data?.card ?? null) as Card | null;
  const isGrave = card !== null && ["high", "irreversible"].includes(card.risk_level);
  const begin = useMutation({
    mutationFn: () => post("/v1/tasks/{task}/start", { confirmed: isGrave, ...(seen === undefined ? {} : { seen }) }, { path: { task } }),
    onSuccess: onClose,
    onError: () => setAsked(false),
    onSettled: () => queries.invalidateQueries({ queryKey: ["task"] }),
  });
  const isChanged = begin.isError && asProblem(begin.error).code === "changed";
  return (
    <Dialog label="Start the task" onClose={onClose}>
      <div className="stack">
        <h2>Start this task?</h2>
        <Refused error={look.error ?? begin.error} />
        {isChanged && <p><button type="button" onClick={() => { begin.reset(); look.mutate(); }}>Look at it as it is now</button></p>}
        {look.isPending && <Loading what="what was agreed on" />}
        {look.isSuccess && card === null && <p>It was begun before, and goes on as it was approved then.</p>}
        {card !== null && (
          <div className="stack">
            <p className="row"><Risk level={card.risk_level} /> <strong><Visible text={card.intent} /></strong></p>
            <p className="muted"><Visible text={card.consequence_label} /></p>
            {card.worst_case && <WorstCase bound={card.worst_case} />}
            <PlanDetails card={card} all={isAll} />
            {!isAll && <p><button type="button" className="quiet" onClick={() => setAll(true)}>Everything that a yes binds</button></p>}
          </div>
        )}
        {isAsked && <p role="alert"><strong>It may reach services beyond its folder. Is that meant?</strong></p>}
        <div className="row">
          {isGrave && !isAsked
            ? <button type="button" className="primary" disabled={isChanged} onClick={() => setAsked(true)}>Start it …</button>
            : <button type="button" className={isGrave ? "danger" : "primary"} disabled={!look.isSuccess || isChanged || begin.isPending} onClick={() => begin.mutate()}>{isGrave ? "Start it, that is meant" : "Start it"}</button>}
          <button type="button" onClick={onClose}>Back</button>
        </div>
        {card !== null && <p className="muted small">Your yes is signed for exactly this.</p>}
      </div>
    </Dialog>
  );
}
