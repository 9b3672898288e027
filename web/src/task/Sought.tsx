// A planner was sent to look for a change. The server knows of it, whoever comes back to the page later.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { objective } from "../api/queries";
import { Redirect } from "./Redirect";

export function Sought({ task }: { task: string }) {
  const sought = useQuery({ ...objective(task), retry: false }).data?.sought;
  const [left, setLeft] = useState("");
  const [isShown, setShown] = useState(false);
  if (!sought || sought.planner === left) return null;
  if (!sought.over) return <p className="muted small" role="status">A planner looks for the change …</p>;
  return (
    <div className="row">
      <button type="button" onClick={() => setShown(true)}>See what was found …</button>
      <button type="button" className="quiet" onClick={() => setLeft(sought.planner)}>Leave it</button>
      {isShown && <Redirect task={task} planner={sought.planner} words="The change that was found" onClose={() => setShown(false)} />}
    </div>
  );
}
