// What became of a card or a question that waits no more: who answered it, when and how, or that its time was up. Of one that never was, it
// says that.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { asProblem } from "../api/problem";
import { approval, question } from "../api/queries";
import type { Card, UserQuestion, Waiting, Whose } from "../api/types";
import { Ago } from "../parts/Ago";
import { Badge, Risk } from "../parts/Badge";
import { Failed, Loading } from "../parts/States";
import { Visible } from "../text/Visible";
import { WhoseWork } from "./WhoseWork";

const BECAME: Record<string, string> = {
  issued: "It was approved.",
  decided: "It was answered.",
  refused: "It was declined.",
  expired: "Nobody answered in time.",
  withdrawn: "It was taken back: nobody needs the answer any more.",
  answered: "It was answered.",
  open: "It waits.",
};

const isNothing = (error: unknown): boolean => asProblem(error).status === 404;

interface AnsweredProps {
  id: string;
  /** Where it is known: otherwise it is looked for among both. */
  kind: Waiting["kind"] | undefined;
  onNext: (() => void) | undefined;
}

export function Answered({ id, kind, onNext }: AnsweredProps) {
  const isQuestion = kind === "question";
  const card = useQuery({ ...approval(id), enabled: !isQuestion });
  const asked = useQuery({ ...question(id), enabled: isQuestion || (card.isError && isNothing(card.error)) });
  const next = onNext !== undefined && <button type="button" className="primary" onClick={onNext}>What waits now</button>;
  if (isQuestion ? asked.isPending : card.isPending || (isNothing(card.error) && asked.isPending)) return <Loading what="what became of it" />;
  if (card.isSuccess) {
    const { standing, decision, whose } = card.data;
    const { risk_level: risk, intent } = card.data.card as Card;
    return (
      <Ended became={decision?.verdict === "edit_requested" ? "It was sent back." : BECAME[standing]} what={<Risk level={risk} />} asked={intent} whose={whose ?? null} next={next}>
        {decision && <Said by={decision.by} at={decision.decided_at} words={[...decision.conditions.map((one) => `On condition: ${one}`), decision.note]} />}
      </Ended>
    );
  }
  if (asked.isSuccess) {
    const { standing, answered, whose } = asked.data;
    return (
      <Ended became={BECAME[standing]} what={<Badge tone="accent">question</Badge>} asked={(asked.data.asked as UserQuestion).question} whose={whose ?? null} next={next}>
        {answered && <Said by={answered.by} at={answered.answered_at} words={[answered.answer]} />}
      </Ended>
    );
  }
  if (!isQuestion && !isNothing(card.error)) return <Failed error={card.error} again={() => void card.refetch()} />;
  if (!isNothing(asked.error)) return <Failed error={asked.error} again={() => void asked.refetch()} />;
  return (
    <article className="card panel">
      <div className="body">
        <p className="then" role="status">There is no such card or question here.</p>
        <p className="row">{next}</p>
      </div>
    </article>
  );
}

interface EndedProps {
  became: string | undefined;
  what: ReactNode;
  asked: string;
  whose: Whose | null;
  next: ReactNode;
  children: ReactNode;
}

function Ended({ became, what, asked, whose, next, children }: EndedProps) {
  return (
    <article className="card panel">
      <div className="body">
        <p className="then" role="status">{became ?? "It waits no more."}</p>
        {children}
        <div className="what">{what}</div>
        <p className="intent"><Visible text={asked} /></p>
        {whose !== null && <p className="muted small"><WhoseWork whose={whose} /></p>}
        <p className="row">{next}</p>
      </div>
    </article>
  );
}

function Said({ by, at, words }: { by: string; at: string; words: string[] }) {
  const said = words.filter(Boolean);
  return (
    <>
      <p className="muted">By <Visible text={by} />, <Ago at={at} />{said.length > 0 && ", with these words:"}</p>
      {said.map((one, index) => <div key={index} className="said"><Visible text={one} /></div>)}
    </>
  );
}
