// Asks for a piece of work: what is wanted, how a machine can tell that it is there, who plans it, who works on it, and for how much.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { post } from "../api/client";
import { agents } from "../api/queries";
import { Dialog } from "../parts/Dialog";
import { Refused } from "../parts/States";
import { type Attached, isFit } from "../stream/attachments";
import { Attachments } from "./Attachments";
import { type Asked, asked, NOTHING } from "./asked";

const PLANNING: [Asked["planning"], string][] = [
  ["none", "one agent works on all of it"],
  ["wanted", "a planner writes a plan first, which you are asked about"],
  ["aligning", "a planner finds out with you what is wanted; you start it"],
];

export function NewTask({ onClose }: { onClose(): void }) {
  const navigate = useNavigate();
  const [said, setSaid] = useState<Asked>(NOTHING);
  const [files, setFiles] = useState<Attached[]>([]);
  const known = (useQuery(agents).data?.items ?? []) as unknown as { id: string }[];
  const begin = useMutation({
    mutationFn: () => post("/v1/tasks", asked(said, files)),
    onSuccess: ({ task_id }) => {
      onClose();
      void navigate({ to: "/tasks/$task", params: { task: task_id } });
    },
  });
  const field = (name: Exclude<keyof Asked, "planning">) => ({ value: said[name], onChange: (event: { target: { value: string } }) => setSaid({ ...said, [name]: event.target.value }) });
  return (
    <Dialog label="New task" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          begin.mutate();
        }}
      >
        <h2>New task</h2>
        <label>
          What is to be done
          <textarea autoFocus required maxLength={65_536} {...field("goal")} />
        </label>
        <Attachments files={files} onFiles={setFiles} />
        <label>
          It is done when these checks pass, one a line
          <textarea className="mono" spellCheck={false} placeholder="command: make test" {...field("checks")} />
        </label>
        <fieldset className="stack planning">
          <legend>How it is planned</legend>
          {PLANNING.map(([planning, words]) => (
            <label key={planning} className="row"><input type="radio" name="planning" checked={said.planning === planning} onChange={() => setSaid({ ...said, planning })} /> {words}</label>
          ))}
        </fieldset>
        <details>
          <summary>Where, by whom, and for how much</summary>
          <div className="stack">
            <label>Folder<input type="text" className="mono" placeholder="the first that is listed for you" {...field("workspace")} /></label>
            <label>Agent<input type="text" list="agents" placeholder="Windlass's own" {...field("agent")} /></label>
            <datalist id="agents">{known.map(({ id }) => <option key={id} value={id} />)}</datalist>
            <label>Model<input type="text" placeholder="as the operator has it" {...field("model")} /></label>
            <label>Rules that everybody must keep to, one a line<textarea {...field("constraints")} /></label>
            <div className="row limits">
              <label>Tokens at most<input type="number" min={1} {...field("max_tokens")} /></label>
              <label>Dollars at most<input type="number" min={0} step="any" {...field("max_cost_usd")} /></label>
              <label>Attempts at most<input type="number" min={1} {...field("max_attempts")} /></label>
              <label>Model calls an attempt<input type="number" min={1} {...field("max_iterations")} /></label>
              <label>Seconds an attempt<input type="number" min={1} {...field("timeout_seconds")} /></label>
            </div>
            <label>Over in any case<input type="text" placeholder="2h, 3d or 2026-12-01T18:00:00+01:00" {...field("deadline")} /></label>
            {said.deadline.trim() !== "" && (
              <label>
                What becomes of it then
                <select {...field("deadline_action")}>
                  <option value="fail">it has failed</option>
                  <option value="complete_partial">it is checked as it is</option>
                  <option value="pause_and_notify">it rests until somebody resumes it</option>
                </select>
              </label>
            )}
          </div>
        </details>
        <Refused error={begin.error} />
        <div className="row">
          <button type="submit" className="primary" disabled={said.goal.trim() === "" || !isFit(files) || begin.isPending}>Begin</button>
          <button type="button" onClick={onClose}>Back</button>
        </div>
      </form>
    </Dialog>
  );
}
