// Yes, no, or not like this. What is of high risk or cannot be undone takes a second step, with another key. Somebody else may have
// answered meanwhile: then that is said, and nothing is changed.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { post } from "../api/client";
import { whoami } from "../api/queries";
import type { Waiting } from "../api/types";
import { useKeys } from "../parts/keys";
import { Refused } from "../parts/States";
import { EditPlan } from "./EditPlan";
import { noteDecision, secondsLookedAt } from "./pace";

type Step = "ready" | "twice" | "decline" | "edit";
type Said = { verdict: "approve"; confirmed: boolean; note: string; conditions: string[] } | { verdict: "decline" | "edit"; note: string };

export function Decide({ item, onDone }: { item: Extract<Waiting, { kind: "card" }>; onDone(): void }) {
  const { card } = item;
  const queries = useQueryClient();
  const [step, setStep] = useState<Step>("ready");
  const [note, setNote] = useState("");
  const shownAt = useRef(Date.now());
  const mayApprove = useQuery(whoami).data?.scopes.includes("approve") ?? true;
  const wantsTwo = card.risk_level === "high" || card.risk_level === "irreversible";
  const isPlan = card.details.kind === "plan" && item.task !== null;

  const decide = useMutation({
    mutationFn: (said: Said) => {
      const path = { card: card.card_id };
      if (said.verdict === "approve") {
        const { confirmed, note: words, conditions } = said;
        return post("/v1/approvals/{card}/approve", { confirmed, note: words, conditions }, { path });
      }
      return post(said.verdict === "decline" ? "/v1/approvals/{card}/decline" : "/v1/approvals/{card}/edit", { note: said.note }, { path });
    },
    onSuccess: (_, said) => {
      noteDecision({ at: Date.now(), seconds: secondsLookedAt(shownAt.current), risky: wantsTwo, yes: said.verdict === "approve" });
      onDone();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["approvals"] }),
  });
  const approve = (confirmed: boolean) => decide.mutate({ verdict: "approve", confirmed, note, conditions: [] });
  const begin = () => (wantsTwo ? setStep("twice") : approve(false));
  const back = () => {
    setStep("ready");
    decide.reset();
  };

  useKeys(
    { a: begin, d: () => setStep("decline"), e: () => setStep("edit"), ...(step === "twice" ? { y: () => approve(true) } : {}), ...(step === "ready" ? {} : { Escape: back }) },
    mayApprove && !decide.isPending,
  );

  if (!mayApprove) return <div className="decide muted">This token may look, and not decide: it lacks the scope <code>approve</code>.</div>;
  return (
    <div className="decide" role="group" aria-label="Decide">
      <Refused error={decide.error} />
      {step === "twice" && (
        <div className="twice" role="alert">
          <p>{card.risk_level === "irreversible" ? "This cannot be undone." : "This is of high risk."} Is it meant?</p>
          <div className="row">
            <button type="button" className="primary" disabled={decide.isPending} onClick={() => approve(true)}>Yes, approve it <kbd>y</kbd></button>
            <button type="button" onClick={back}>Back <kbd>Esc</kbd></button>
          </div>
        </div>
      )}
      {step === "decline" && (
        <Words
          label="Why not? The agent hears it, and goes on without."
          action="Decline"
          note={note}
          onNote={setNote}
          onSend={() => decide.mutate({ verdict: "decline", note })}
          onBack={back}
          isBusy={decide.isPending}
        />
      )}
      {step === "edit" && !isPlan && (
        <Words
          label="What should be done instead? The agent hears it."
          action="Send back"
          note={note}
          onNote={setNote}
          onSend={() => decide.mutate({ verdict: "edit", note })}
          onBack={back}
          isBusy={decide.isPending}
          isNeeded
        />
      )}
      {step === "edit" && isPlan && item.task !== null && (
        <EditPlan task={item.task} isBusy={decide.isPending} onSend={(words) => decide.mutate({ verdict: "edit", note: words })} onBack={back} />
      )}
      {step === "ready" && (
        <div className="row">
          <button type="button" className="primary" disabled={decide.isPending} onClick={begin}>
            {decide.isPending ? "Sending …" : wantsTwo ? "Approve …" : "Approve"} <kbd>a</kbd>
          </button>
          <button type="button" onClick={() => setStep("decline")}>Decline … <kbd>d</kbd></button>
          <button type="button" onClick={() => setStep("edit")}>{isPlan ? "Edit …" : "Not like this …"} <kbd>e</kbd></button>
        </div>
      )}
    </div>
  );
}

interface WordsProps {
  label: string;
  action: string;
  note: string;
  onNote(note: string): void;
  onSend(): void;
  onBack(): void;
  isBusy: boolean;
  isNeeded?: boolean;
}

function Words({ label, action, note, onNote, onSend, onBack, isBusy, isNeeded = false }: WordsProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const isReady = !isBusy && !(isNeeded && note.trim() === "");
  // By button or by key: neither twice, nor without the words that are needed.
  const send = () => {
    if (isReady) onSend();
  };
  return (
    <form
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
        {label}
        <textarea ref={field} maxLength={10_000} required={isNeeded} value={note} onChange={(event) => onNote(event.target.value)} />
      </label>
      <div className="row">
        <button type="submit" className="primary" disabled={!isReady}>{action} <kbd>Ctrl ⏎</kbd></button>
        <button type="button" onClick={onBack}>Back <kbd>Esc</kbd></button>
      </div>
    </form>
  );
}
