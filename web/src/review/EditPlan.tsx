// The plan's own document, to be changed. What is different goes to the planner as a patch, with words beside it; the planner writes the
// plan anew, and asks again.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";

import { get } from "../api/client";
import { blob } from "../api/queries";
import { Diff } from "../text/Diff";
import { asPatch, difference } from "../text/difference";

/** What a note may have. */
const LONGEST = 10_000;

export function EditPlan({ task, isBusy, onSend, onBack }: { task: string; isBusy: boolean; onSend(note: string): void; onBack(): void }) {
  const written = useQuery({ queryKey: ["task", task, "document"], queryFn: ({ signal }) => documentOf(task, signal) });
  const bytes = useQuery({ ...blob(written.data ?? ""), enabled: typeof written.data === "string" });
  const [before, setBefore] = useState<string | null>(null);
  const [after, setAfter] = useState("");
  const [words, setWords] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (before !== null || bytes.data === undefined) return;
    void bytes.data.text().then((text) => {
      setBefore(text);
      setAfter(text);
    });
  }, [before, bytes.data]);
  useEffect(() => field.current?.focus(), []);

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
      className="stack"
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
        What should be different? A planner writes the plan anew, and asks again.
        <textarea ref={field} value={words} onChange={(event) => setWords(event.target.value)} />
      </label>
      {before !== null && (
        <details>
          <summary>Change the document itself</summary>
          <label>
            <span className="sr">The plan's document</span>
            <textarea className="document" spellCheck={false} value={after} onChange={(event) => setAfter(event.target.value)} />
          </label>
        </details>
      )}
      {isChanged && <Diff name="what you changed" lines={lines.filter((_, index) => lines.slice(Math.max(0, index - 2), index + 3).some(({ sign }) => sign !== " "))} />}
      {!fits && <p className="refused">That is more than a note may have; say the rest in words.</p>}
      <div className="row">
        <button type="submit" className="primary" disabled={!isReady}>Send back <kbd>Ctrl ⏎</kbd></button>
        <button type="button" onClick={onBack}>Back <kbd>Esc</kbd></button>
      </div>
    </form>
  );
}

/** The digest of the document that was proposed last. */
async function documentOf(task: string, signal: AbortSignal): Promise<string | null> {
  let found: string | null = null;
  let cursor: string | undefined;
  do {
    const page = await get("/v1/tasks/{task}/records", { path: { task }, query: { limit: 500, cursor } as never, signal });
    for (const { kind, data } of page.records) {
      if (kind === "plan.proposed") found = ((data as { document?: string }).document ?? found);
    }
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return found;
}
