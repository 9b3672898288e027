// One thing that happened, and behind it the record.
import { Link } from "@tanstack/react-router";
import { memo } from "react";

import { clock, short } from "../text/format";
import { Printed } from "../text/Printed";
import { Visible } from "../text/Visible";
import type { Sentence } from "./sentence";
import type { Line } from "./useActivity";

export const ActivityLine = memo(function ActivityLine({ line, isOpen, onToggle }: { line: Line; isOpen: boolean; onToggle(): void }) {
  const { record, told } = line;
  return (
    <div className={`happened ${told.tone ?? ""} ${told.quiet ? "quiet" : ""}`}>
      <button type="button" className="line" aria-expanded={isOpen} onClick={onToggle}>
        <time dateTime={record.at} className="number">{clock(record.at)}</time>
        <span className="says">
          <span className="what">{inWords(told.says)}</span>
          {told.quote !== undefined && <span className="quote"> <Visible text={told.quote.slice(0, 300)} /></span>}
        </span>
        <code className="whose">{record.stream.split("/")[0]} {short(record.stream)}</code>
      </button>
      {isOpen && (
        <div className="evidence stack">
          <p className="row">
            {told.leads !== undefined && <Leads leads={told.leads} />}
            <span className="muted small">record {record.position} · <code>{record.kind}</code> · <code>{record.stream}</code></span>
          </p>
          <Printed text={JSON.stringify(record.data, null, 2)} />
        </div>
      )}
    </div>
  );
});

/** Our own sentences name things between backticks. */
const inWords = (says: string) => says.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}><Visible text={part} /></code> : <Visible key={index} text={part} isPiece />));

function Leads({ leads: { to, id } }: { leads: NonNullable<Sentence["leads"]> }) {
  switch (to) {
    case "task":
      return <Link to="/tasks/$task" params={{ task: id }}>Task {short(id)}</Link>;
    case "execution":
      return <Link to="/executions/$execution" params={{ execution: id }}>Execution {short(id)}</Link>;
    case "review":
      return <Link to="/review/$id" params={{ id }}>Card {short(id)}</Link>;
    case "stream":
      return <Link to="/stream/$session" params={{ session: id }}>Conversation {short(id)}</Link>;
  }
}
