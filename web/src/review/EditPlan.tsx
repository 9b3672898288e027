// The plan's own document, to be read, checked and changed. The engine takes no plan of a person's in the place of a planner's: what is
// different goes to the planner as a patch, with words beside it; the planner writes the plan anew, and asks again. That is said.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import { get } from "../api/client";
import { blob } from "../api/queries";
import { DocumentField } from "../parts/DocumentField";
import type { Drafts } from "../parts/drafts";
import { Failed, Loading } from "../parts/States";
import { Diff } from "../text/Diff";
import { asPatch, difference } from "../text/difference";

/** What a note may have. */
const LONGEST = 10_000;

interface EditPlanProps {
  task: string;
  /** Of an objective the document is another one than a plan's. */
  isObjective: boolean;
  /** What was changed is kept while one looks elsewhere. */
  drafts: Drafts;
  isBusy: boolean;
  onSend(note: string): void;
  onBack(): void;
}

export function EditPlan({ task, isObjective, drafts, isBusy, onSend, onBack }: EditPlanProps) {
  const written = useQuery({ queryKey: ["task", task, "document"], queryFn: ({ signal }) => documentOf(task, signal) });
  const bytes = useQuery({ ...blob(written.data ?? ""), enabled: typeof written.data === "string" });
  const [before, setBefore] = useState<string | null>(null);
  const after = drafts.of("document") ?? before ?? "";
  const words = drafts.of("edit") ?? "";
  useEffect(() => {
    if (before !== null || bytes.data === undefined) return;
    void bytes.data.text().then((answer) => setBefore(planIn(answer)));
  }, [before, bytes.data]);

  const lines = useMemo(() => (before === null ? [] : difference(before, after)), [before, after]);
  const isChanged = before !== null && before !== after;
  const note = [words.trim(), isChanged ? `Change the plan's document like this:\n\n${asPatch(lines)}` : ""].filter(Boolean).join("\n\n");
  const fits = note.length <= LONGEST;
  const isReady = !isBusy && note !== "" && fits;
  const send = () => {
    if (isReady) onSend(note);
  };
  return (
    <form
      className="stack edit-plan"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onBack();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
      }}
    >
      <label>
        What should be different?
        <textarea className="short" autoFocus value={words} onChange={(event) => drafts.keep("edit", event.target.value)} />
      </label>
      {before !== null && <DocumentField label="The plan's document" kind={isObjective || !before.startsWith("---") ? null : "plan"} value={after} onValue={(document) => drafts.keep("document", document)} />}
      {before === null && (written.isError || bytes.isError) && <Failed error={written.error ?? bytes.error} />}
      {before === null && !written.isError && !bytes.isError && written.data !== null && <Loading what="the plan's document" />}
      {isChanged && <Diff name="what you changed" lines={lines} />}
      {!fits && <p className="refused">That is more than a note may have; say the rest in words.</p>}
      <p className="muted small">What you change is not the plan yet: a planner is told of it, writes the plan anew, and you are asked again.</p>
      <div className="row">
        <button type="submit" className="primary" disabled={!isReady}>Send back <kbd>Ctrl ⏎</kbd></button>
        <button type="button" onClick={onBack}>Back <kbd>Esc</kbd></button>
      </div>
    </form>
  );
}

/** What is kept of a planner is all that it answered; the plan's document is in it. */
export function planIn(answer: string): string {
  try {
    const { plan_action: action } = JSON.parse(answer) as { plan_action?: { plan_markdown?: unknown } };
    return typeof action?.plan_markdown === "string" ? action.plan_markdown : answer;
  } catch {
    return answer;
  }
}

/** The digest of the document that was proposed last. */
async function documentOf(task: string, signal: AbortSignal): Promise<string | null> {
  let found: string | null = null;
  let cursor: string | undefined;
  do {
    const page = await get("/v1/tasks/{task}/records", { path: { task }, query: { limit: 500, cursor }, signal });
    for (const { kind, data } of page.records) {
      if (kind === "plan.proposed") found = ((data as { document?: string }).document ?? found);
    }
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return found;
}
