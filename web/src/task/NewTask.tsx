// Asks for a piece of work: what is wanted, how a machine can tell that it is there, and who is to plan it.
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { post } from "../api/client";
import { Dialog } from "../parts/Dialog";
import { Refused } from "../parts/States";

export function NewTask({ onClose }: { onClose(): void }) {
  const navigate = useNavigate();
  const [goal, setGoal] = useState("");
  const [checks, setChecks] = useState("");
  const [isPlanned, setPlanned] = useState(false);
  const begin = useMutation({
    mutationFn: () =>
      post("/v1/tasks", {
        goal,
        base_case: checks.split("\n").map((check) => check.trim()).filter(Boolean),
        planning: isPlanned ? "wanted" : "none",
      }),
    onSuccess: ({ task_id }) => {
      onClose();
      void navigate({ to: "/tasks/$task", params: { task: task_id } });
    },
  });
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
          <textarea autoFocus required maxLength={65_536} value={goal} onChange={(event) => setGoal(event.target.value)} />
        </label>
        <label>
          It is done when these checks pass, one a line
          <textarea className="mono" spellCheck={false} placeholder="command: make test" value={checks} onChange={(event) => setChecks(event.target.value)} />
        </label>
        <label className="row"><input type="checkbox" checked={isPlanned} onChange={(event) => setPlanned(event.target.checked)} /> a planner writes a plan first, which you are asked about</label>
        <Refused error={begin.error} />
        <div className="row">
          <button type="submit" className="primary" disabled={goal.trim() === "" || begin.isPending}>Begin</button>
          <button type="button" onClick={onClose}>Back</button>
        </div>
      </form>
    </Dialog>
  );
}
