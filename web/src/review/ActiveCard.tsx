// The card that is to be decided. Everything that a yes binds is on it, or one key away; nothing in it is hidden or cut short.
import { useState } from "react";

import type { Waiting } from "../api/types";
import { Ago, useNow } from "../parts/Ago";
import { Badge, Risk } from "../parts/Badge";
import { useKeys } from "../parts/keys";
import { until } from "../text/format";
import { Visible } from "../text/Visible";
import { CallDetails, isCall } from "./CallDetails";
import { Decide } from "./Decide";
import { isPlan, PlanDetails } from "./PlanDetails";
import { Rest } from "./Rest";
import { useFocus } from "./useFocus";
import { WhoseWork } from "./WhoseWork";
import { WorstCase } from "./WorstCase";

const KINDS: Record<string, string> = { plan: "Plan", goal: "Goal", help: "An attempt needs help", review: "A plan failed" };

export function ActiveCard({ item, onDone }: { item: Extract<Waiting, { kind: "card" }>; onDone(became: string): void }) {
  const { card, whose, askedAt } = item;
  const heading = useFocus();
  const [all, setAll] = useState(false);
  const now = useNow();
  useKeys({ x: () => setAll(!all) });
  const call = isCall(card);
  const what = call ? `Call of ${String(card.details.tool)}` : (KINDS[String(card.details.kind)] ?? "Approval");
  const taint = card.details.taint;
  return (
    <article className="card panel" aria-labelledby="intent">
      <header>
        <div>
          <div className="what">
            <Risk level={card.risk_level} />
            <span className="muted"><Visible text={what} /></span>
            {taint !== undefined && taint !== "auth" && <Badge tone="warn">{`has read ${String(taint)} words`}</Badge>}
          </div>
          <h2 id="intent" ref={heading} tabIndex={-1} className={call ? "intent call" : "intent"}><Visible text={card.intent} /></h2>
        </div>
      </header>
      <div className="body">
        {card.rationale !== "" && (
          <section>
            <h3>{call ? "The agent says, and nobody has to believe it" : "Why"}</h3>
            <div className="said" tabIndex={0}><Visible text={card.rationale} /></div>
          </section>
        )}
        {call && <CallDetails card={card} />}
        <section>
          <h3>If you say yes</h3>
          <p className="then"><Visible text={card.consequence_label} /></p>
        </section>
        {card.affected_items.length > 0 && !isPlan(card) && (
          <section>
            <h3>Touches</h3>
            <ul className="affected">{card.affected_items.map((name) => <li key={name}><Visible text={name} /></li>)}</ul>
          </section>
        )}
        {card.worst_case && <WorstCase bound={card.worst_case} />}
        {isPlan(card) && <PlanDetails card={card} all={all} />}
        {!call && !isPlan(card) && <dl className="facts rest"><Rest fields={card.details} known={["kind", "about", "task_id"]} /></dl>}
        <p className="muted small">
          {whose !== null && <WhoseWork whose={whose} />}
          {askedAt !== null && <>asked <Ago at={askedAt} /> · </>}
          good for {until(card.expires_at, now)} more
          {" · "}
          <button type="button" className="quiet" aria-expanded={all} onClick={() => setAll(!all)}>{all ? "Less" : "All details"} <kbd>x</kbd></button>
        </p>
        {all && (
          <section>
            <h3>Everything that a yes binds</h3>
            <pre className="code-block" tabIndex={0}><Visible text={JSON.stringify({ card_id: card.card_id, binds: card.binds, details: card.details }, null, 2)} /></pre>
          </section>
        )}
      </div>
      <Decide item={item} onDone={onDone} />
    </article>
  );
}
