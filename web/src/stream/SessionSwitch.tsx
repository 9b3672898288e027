// Which conversation: one of those there are, or a new one.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import type { Schemas } from "../api/client";
import { Dialog } from "../parts/Dialog";
import { short } from "../text/format";
import { shown } from "../text/visible";
import { called } from "./called";

interface SessionSwitchProps {
  current: string;
  known: Schemas["SessionSummary"][];
  onOpen(name: string): void;
}

export function SessionSwitch({ current, known, onOpen }: SessionSwitchProps) {
  const navigate = useNavigate();
  const [name, setName] = useState<string | null>(null);
  const isKnown = known.some(({ session_id }) => session_id === current);
  return (
    <div className="session-switch">
      <select aria-label="Conversation" value={current} onChange={(event) => void navigate({ to: "/stream/$session", params: { session: event.target.value } })}>
        {!isKnown && <option value={current}>new · {short(current)}</option>}
        {known.map((session) => <option key={session.session_id} value={session.session_id}>{shown(called(session))}</option>)}
      </select>
      <button type="button" onClick={() => setName("")}>New …</button>
      {name !== null && (
        <Dialog label="A new conversation" onClose={() => setName(null)}>
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              setName(null);
              onOpen(name);
            }}
          >
            <h2>A new conversation</h2>
            <label>
              Its name
              <input type="text" maxLength={256} autoFocus value={name} onChange={(event) => setName(event.target.value)} />
            </label>
            <p className="muted small">It is about the same folder, and knows what is said in it and its own tasks only.</p>
            <div className="row">
              <button type="submit" className="primary" disabled={name.trim() === ""}>Open it</button>
              <button type="button" onClick={() => setName(null)}>Back</button>
            </div>
          </form>
        </Dialog>
      )}
    </div>
  );
}
