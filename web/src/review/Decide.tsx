// Yes, no, or not like this. What is of high risk or cannot be undone takes a second step, with another key. A card takes an answer once it
// could be seen, and words that were begun for one answer never go out with another; they are kept until the card is answered. Somebody else
// may have answered meanwhile: then that is said, and nothing is changed.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { VERDICTS } from "../activity/tellers";
import { post } from "../api/client";
import { whoami } from "../api/queries";
import type { Card, Waiting } from "../api/types";
import { useArmed } from "../parts/armed";
import { useDrafts } from "../parts/drafts";
import { useKeys } from "../parts/keys";
import { Refused } from "../parts/States";
import { EditPlan } from "./EditPlan";
import { noteLooked, secondsSince } from "./pace";
import { Words } from "./Words";

type Step = "ready" | "say" | "twice" | "decline" | "edit";
type Beside = { note: string; conditions: string[] };
type Said = ({ verdict: "approve"; confirmed: boolean } & Beside) | { verdict: "decline" | "edit"; note: string };

const NOTHING: Beside = { note: "", conditions: [] };

/** What each kind of card hears: words beside a yes where an agent is at work who can hear them, and a change where it is not just another no. */
export function answersOf(card: Card): { isPlan: boolean; hasWords: boolean; wantsWords: boolean; canChange: boolean } {
  const { kind, about } = card.details;
  return {
    isPlan: kind === "plan",
    hasWords: card.binds.scope !== "standing" && kind !== "plan" && kind !== "review",
    wantsWords: kind === "help",
    canChange: kind !== "review" && !(kind === "help" && about !== "next_attempt"),
  };
}

export function Decide({ item, onDone }: { item: Extract<Waiting, { kind: "card" }>; onDone(became: string): void }) {
  const { card } = item;
  const queries = useQueryClient();
  const [step, setStep] = useState<Step>("ready");
  const drafts = useDrafts(`card/${card.card_id}`);
  const conditions = drafts.of("conditions") ?? "";
  const [looked, setLooked] = useState(0);
  const beside = useRef(NOTHING);
  const shownAt = useRef(Date.now());
  const isArmed = useArmed();
  const mayApprove = useQuery(whoami).data?.scopes.includes("approve") ?? true;
  const wantsTwo = card.risk_level === "high" || card.risk_level === "irreversible";
  const { isPlan, hasWords, wantsWords, canChange } = answersOf(card);

  const decide = useMutation({
    mutationFn: (said: Said) => {
      const path = { card: card.card_id };
      if (said.verdict === "approve") {
        const { confirmed, note, conditions } = said;
        return post("/v1/approvals/{card}/approve", { confirmed, note, conditions }, { path });
      }
      return post(said.verdict === "decline" ? "/v1/approvals/{card}/decline" : "/v1/approvals/{card}/edit", { note: said.note }, { path });
    },
    onSuccess: ({ verdict }) => {
      drafts.forget();
      noteLooked(card.card_id, secondsSince(shownAt.current));
      onDone(VERDICTS[verdict] ?? "Answered");
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["approvals"] }),
  });
  const isReady = mayApprove && isArmed && !decide.isPending;
  const approve = (confirmed: boolean) => decide.mutate({ verdict: "approve", confirmed, ...beside.current });
  const begin = (words: Beside) => {
    beside.current = words;
    if (!wantsTwo) return approve(false);
    setLooked(secondsSince(shownAt.current));
    setStep("twice");
  };
  const yes = () => (wantsWords ? setStep("say") : begin(NOTHING));
  const back = () => {
    setStep("ready");
    decide.reset();
  };
  const draft = (of: Step) => ({ note: drafts.of(of) ?? "", onNote: (note: string) => drafts.keep(of, note), onBack: back, isBusy: !isReady });

  useKeys(
    {
      // The second step has a key of its own, and keeps the words that were said before it.
      ...(step === "ready" ? { a: yes } : {}),
      ...(step === "ready" && hasWords ? { n: () => setStep("say") } : {}),
      d: () => setStep("decline"),
      ...(canChange ? { e: () => setStep("edit") } : {}),
      ...(step === "twice" ? { y: () => approve(true) } : {}),
      ...(step === "ready" ? {} : { Escape: back }),
    },
    isReady,
  );

  if (!mayApprove) return <div className="decide muted">This token may look, and not decide: it lacks the scope <code>approve</code>.</div>;
  return (
    <div className="decide" role="group" aria-label="Decide">
      <Refused error={decide.error} />
      {step === "twice" && (
        <div className="twice" role="alert">
          <p>
            {card.risk_level === "irreversible" ? "This cannot be undone." : "This is of high risk."} Is it meant? You have looked at it for {Math.max(1, Math.round(looked))} s.
          </p>
          {(beside.current.note !== "" || beside.current.conditions.length > 0) && <p className="beside">Beside it: {[...beside.current.conditions, beside.current.note].filter(Boolean).join("; ")}</p>}
          <div className="row">
            <button type="button" className="primary" disabled={!isReady} onClick={() => approve(true)}>Yes, approve it <kbd>y</kbd></button>
            <button type="button" onClick={back}>Back <kbd>Esc</kbd></button>
          </div>
        </div>
      )}
      {step === "say" && (
        <Words
          label={wantsWords ? "What should it know? The next attempt is told. Nothing need be said." : "What should it know beside the yes? Whoever works on it hears it."}
          action={wantsTwo ? "Approve, and say this …" : "Approve, and say this"}
          onSend={(note) => begin({ note: note.trim(), conditions: conditions.split("\n").map((line) => line.trim()).filter(Boolean) })}
          {...draft("say")}
        >
          <label>
            On condition that (one a line, if any)
            <textarea className="short" maxLength={10_000} value={conditions} onChange={(event) => drafts.keep("conditions", event.target.value)} />
          </label>
        </Words>
      )}
      {step === "decline" && (
        <Words label="Why not? The agent hears it, and goes on without." action="Decline" onSend={(note) => decide.mutate({ verdict: "decline", note })} {...draft("decline")} />
      )}
      {step === "edit" && !isPlan && (
        <Words label="What should be done instead? The agent hears it." action="Send back" onSend={(note) => decide.mutate({ verdict: "edit", note })} isNeeded {...draft("edit")} />
      )}
      {step === "edit" && isPlan && item.task !== null && (
        <EditPlan task={item.task} isObjective={Boolean(card.details.objective)} drafts={drafts} isBusy={!isReady} onSend={(words) => decide.mutate({ verdict: "edit", note: words })} onBack={back} />
      )}
      {step === "ready" && (
        <div className="row">
          <button type="button" className="primary" disabled={!isReady} onClick={yes}>
            {decide.isPending ? "Sending …" : wantsTwo || wantsWords ? "Approve …" : "Approve"} <kbd>a</kbd>
          </button>
          {hasWords && !wantsWords && <button type="button" disabled={!isReady} onClick={() => setStep("say")}>Approve, and say … <kbd>n</kbd></button>}
          <button type="button" disabled={!isReady} onClick={() => setStep("decline")}>Decline … <kbd>d</kbd></button>
          {canChange && <button type="button" disabled={!isReady} onClick={() => setStep("edit")}>{isPlan ? "Edit …" : "Not like this …"} <kbd>e</kbd></button>}
        </div>
      )}
    </div>
  );
}
