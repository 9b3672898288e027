// A new task that goes on with this conversation from the end of a turn: first what is taken over is shown, then it is said what to do with it.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { get, post } from "../api/client";
import { Dialog } from "../parts/Dialog";
import { Failed, Loading, Refused } from "../parts/States";
import { Markdown } from "../text/Markdown";
import { Visible } from "../text/Visible";

export function Fork({ execution, turn, onClose }: { execution: string; turn: number; onClose(): void }) {
  const navigate = useNavigate();
  const [words, setWords] = useState("");
  const [checks, setChecks] = useState("");
  const shown = useQuery({ queryKey: ["fork", execution, turn], queryFn: ({ signal }) => get("/v1/executions/{execution}/fork", { path: { execution }, query: { turn }, signal }), gcTime: 0, retry: false });
  const fork = useMutation({
    mutationFn: () => post("/v1/executions/{execution}/fork", { turn, base_case: checks.split("\n").map((check) => check.trim()).filter(Boolean), ...(words.trim() === "" ? {} : { words }) }, { path: { execution } }),
    onSuccess: ({ task_id }) => void navigate({ to: "/tasks/$task", params: { task: task_id } }),
  });
  const known = shown.data;
  return (
    <Dialog label="Fork from here" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          fork.mutate();
        }}
      >
        <h2>Go on from turn {turn}, in a new task</h2>
        {shown.isError && <Failed error={shown.error} />}
        {shown.isPending && <Loading what="what is taken over" />}
        {known !== undefined && (
          <>
            <dl className="facts small">
              <dt>Taken over</dt>
              <dd>{known.turn === 1 ? "turn 1" : `turns 1 to ${known.turn}`}{known.leaves_out && `; turn ${known.leaves_out} is still being worked on, and is left out`}</dd>
              <dt>By</dt>
              <dd><Visible text={known.agent} />, asking <Visible text={known.model} /></dd>
              <dt>In</dt>
              <dd><code><Visible text={known.workspace} /></code>, as it is now</dd>
              {known.unended.length > 0 && <><dt>Nobody knows how these ended</dt><dd>{known.unended.map((call) => <div key={call}><Visible text={call} /></div>)}</dd></>}
            </dl>
            <details><summary className="muted small">Its task was</summary><Markdown text={known.goal} /></details>
            <label>
              What it is to do now
              <textarea autoFocus maxLength={65_536} placeholder="Without words it goes on with its task." value={words} onChange={(event) => setWords(event.target.value)} />
            </label>
            <label>
              It is done when these checks pass, one a line
              <textarea className="mono" spellCheck={false} placeholder="command: make test" value={checks} onChange={(event) => setChecks(event.target.value)} />
            </label>
          </>
        )}
        <Refused error={fork.error} />
        <div className="row">
          <button type="submit" className="primary" disabled={known === undefined || fork.isPending}>Begin</button>
          <button type="button" onClick={onClose}>Back</button>
        </div>
        <p className="muted small">The earlier conversation stays as it is.</p>
      </form>
    </Dialog>
  );
}
