// What stands where there is nothing to show: yet, at all, or because something went wrong.
import type { ReactNode } from "react";

import { asProblem } from "../api/problem";
import { Visible } from "../text/Visible";
import "./States.css";

export function Loading({ what }: { what: string }) {
  return <p className="state muted" role="status">Reading {what} …</p>;
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="state">
      <p className="title">{title}</p>
      {children !== undefined && <div className="muted">{children}</div>}
    </div>
  );
}

export function Failed({ error, again }: { error: unknown; again?: () => void }) {
  const problem = asProblem(error);
  return (
    <div className="state bad" role="alert">
      <p className="title"><Visible text={problem.message} /></p>
      {problem.hint !== undefined && <p className="muted"><Visible text={problem.hint} /></p>}
      {again !== undefined && <button type="button" onClick={again}>Try again</button>}
    </div>
  );
}

/** Beside a form: what was wrong with what was sent. */
export function Refused({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  const problem = asProblem(error);
  return (
    <p className="refused" role="alert">
      <Visible text={problem.message} /> {problem.hint !== undefined && <Visible text={problem.hint} />}
    </p>
  );
}
