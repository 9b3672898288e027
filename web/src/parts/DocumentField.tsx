// A document that somebody writes: as it is written, with what is wrong with it beside it, line and column, as the server's own reader says;
// and as it reads. Nothing is done with it before it is sent.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";

import { ask, read, type Schemas } from "../api/client";
import { Visible } from "../text/Visible";
import { Written } from "../text/Written";
import { useRested } from "./rested";
import "./DocumentField.css";

type Misfit = Schemas["Misfit"];

interface DocumentFieldProps {
  label: string;
  /** `null`: nothing reads documents of this kind here. */
  kind: Schemas["DocumentWord"] | null;
  value: string;
  onValue(value: string): void;
  autoFocus?: boolean;
}

export function DocumentField({ label, kind, value, onValue, autoFocus = false }: DocumentFieldProps) {
  const name = useId();
  const [isRead, setRead] = useState(false);
  // While somebody types they are not told that they are not done.
  const rested = useRested(value);
  const field = useRef<HTMLTextAreaElement>(null);
  const checked = useQuery({
    queryKey: ["document", kind, rested],
    queryFn: ({ signal }) => check(kind ?? "plan", rested, signal),
    enabled: kind !== null && rested !== "",
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const go = ({ line, column }: Misfit) => {
    const at = placeOf(value, line, column);
    field.current?.focus();
    field.current?.setSelectionRange(at, at);
  };
  return (
    <div className="document-field">
      <div className="spread">
        <span id={name}>{label}</span>
        <button type="button" className="quiet" aria-pressed={isRead} onClick={() => setRead(!isRead)}>{isRead ? "As it is written" : "As it reads"}</button>
      </div>
      {isRead ? (
        <div className="reading" tabIndex={0} role="region" aria-label={`${label}, as it reads`}><Written text={value} isRead /></div>
      ) : (
        <textarea ref={field} className="document" spellCheck={false} aria-labelledby={name} autoFocus={autoFocus} value={value} onChange={(event) => onValue(event.target.value)} />
      )}
      {kind !== null && (
        <div role="status" className="small">
          {checked.data?.misfits.length === 0 && <span className="muted">Nothing is wrong with it.</span>}
          {checked.data !== undefined && checked.data.misfits.length > 0 && (
            <ul className="misfits" aria-label="What is wrong with it">
              {checked.data.misfits.map((misfit, index) => (
                <li key={index}>
                  <button type="button" className="quiet number" onClick={() => go(misfit)}>{misfit.line}:{misfit.column}</button> <Visible text={misfit.message} />
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </div>
  );
}

/** Without a key: it changes nothing, and nobody has to remember its answer. */
async function check(kind: Schemas["DocumentWord"], document: string, signal: AbortSignal): Promise<Schemas["Checked"]> {
  const body = JSON.stringify({ kind, document });
  const answer = await ask("/v1/documents/check", { method: "POST", headers: { "Content-Type": "application/json" }, body, signal });
  return (await read(answer.json())) as Schemas["Checked"];
}

/** Both begin at one, and columns count characters. */
export function placeOf(text: string, line: number, column: number): number {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return Math.min(text.length, before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length);
}
