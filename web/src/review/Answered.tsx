// What became of a card that waits no more: somebody answered it, here or elsewhere, or its time was up.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { approval } from "../api/queries";
import type { Card } from "../api/types";
import { Risk } from "../parts/Badge";
import { Loading } from "../parts/States";
import { short } from "../text/format";
import { Visible } from "../text/Visible";

const BECAME: Record<string, string> = {
  issued: "It was approved.",
  decided: "It was answered.",
  refused: "It was declined, or sent back.",
  expired: "Nobody answered in time.",
  withdrawn: "It was taken back: nobody needs the answer any more.",
};

export function Answered({ id, onNext }: { id: string; onNext: (() => void) | undefined }) {
  const found = useQuery(approval(id));
  if (found.isPending) return <Loading what="the card" />;
  const card = found.data?.card as Card | undefined;
  return (
    <article className="card panel">
      <div className="body">
        <p className="then" role="status">{(found.data && BECAME[found.data.standing]) ?? "This waits no more: it was answered, or taken back."}</p>
        {card !== undefined && (
          <>
            <div className="what"><Risk level={card.risk_level} /></div>
            <p className="intent"><Visible text={card.intent} /></p>
          </>
        )}
        <p className="row">
          {onNext !== undefined && <button type="button" className="primary" onClick={onNext}>What waits now</button>}
          {found.data?.task_id && <Link to="/tasks/$task" params={{ task: found.data.task_id }}>Task {short(found.data.task_id)}</Link>}
        </p>
      </div>
    </article>
  );
}
