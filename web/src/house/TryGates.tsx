// What the gates here would say to a call that nobody makes. Nothing is run.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { post } from "../api/client";
import { Badge, type Tone } from "../parts/Badge";
import { Refused } from "../parts/States";
import { words } from "../text/format";
import { Visible } from "../text/Visible";

interface Record {
  gate: string;
  decision: string;
  reason: string;
}

const TONES: { [decision: string]: Tone } = { continue: "good", require_approval: "warn", block: "bad" };

export function TryGates() {
  const [tool, setTool] = useState("bash");
  const [given, setGiven] = useState('{"command": "ls"}');
  const [external, setExternal] = useState(false);
  const attempt = useMutation({ mutationFn: () => post("/v1/gates/try", { tool, tool_args: JSON.parse(given) as unknown, external }) });
  return (
    <form
      className="panel try"
      onSubmit={(event) => {
        event.preventDefault();
        attempt.mutate();
      }}
    >
      <header><h2>Try a call</h2></header>
      <div className="body stack">
        <label>Tool <input type="text" value={tool} onChange={(event) => setTool(event.target.value)} /></label>
        <label>What it is given, as JSON <textarea className="mono" spellCheck={false} value={given} onChange={(event) => setGiven(event.target.value)} /></label>
        <label className="row"><input type="checkbox" checked={external} onChange={(event) => setExternal(event.target.checked)} /> Its agent has read something from outside</label>
        <div className="row"><button type="submit" disabled={attempt.isPending}>What would be said?</button></div>
        <Refused error={attempt.error} />
        {attempt.data !== undefined && (
          <div role="status" className="stack">
            <p className="row"><Badge tone={TONES[attempt.data.decision] ?? "plain"}>{words(attempt.data.decision)}</Badge>{attempt.data.by && <span className="muted">by <Visible text={attempt.data.by} /></span>}</p>
            <ul className="said-by">
              {(attempt.data.records as Record[]).map((record, index) => <li key={index}><strong><Visible text={record.gate} /></strong> {words(record.decision)} <span className="muted"><Visible text={record.reason} /></span></li>)}
            </ul>
          </div>
        )}
      </div>
    </form>
  );
}
