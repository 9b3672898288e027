// A plan as it would be worked on: what everybody is told, and each item with its checks and what it waits for. Every word of it is there
// as it is written, since a yes signs all of them; read as Markdown, nothing of it goes either.
import { useState } from "react";

import type { Card, PlanItem } from "../api/types";
import { Badge } from "../parts/Badge";
import { useKeys } from "../parts/keys";
import { duration, money } from "../text/format";
import { Visible } from "../text/Visible";
import { Written } from "../text/Written";
import { isSaid, Rest } from "./Rest";

export const isPlan = (card: Card): boolean => card.details.kind === "plan" || card.details.kind === "goal";

/** Words for people and agents, each with who reads them. */
const WORDS = [
  ["context", "Everybody is told"],
  ["constraints", "Limits"],
  ["if_you_get_stuck", "Whoever gets stuck is told"],
  ["failure_context", "Whoever mends it is told"],
] as const;
const OBJECTIVE = [
  ["goal", "What is wanted"],
  ["background_intent", "Why"],
  ["deliverables", "What it delivers"],
  ["definition_of_done", "Done when"],
  ["words", "In these words"],
] as const;
const KNOWN = ["kind", "objective", "items", "verify", ...WORDS.map(([name]) => name)];

export function PlanDetails({ card, all }: { card: Card; all: boolean }) {
  const [isRead, setRead] = useState(false);
  useKeys({ m: () => setRead(!isRead) });
  const details = card.details;
  const { items = [], verify = [] } = details as unknown as { items?: PlanItem[]; verify?: string[] };
  const objective = (details.objective ?? {}) as Record<string, unknown>;
  const said = (fields: Record<string, unknown>, names: readonly (readonly [string, string])[]) =>
    names.map(([name, title]) => typeof fields[name] === "string" && fields[name] !== "" && <Said key={name} title={title} text={fields[name]} isRead={isRead} />);
  return (
    <>
      <p className="small">
        <button type="button" className="quiet" aria-pressed={isRead} onClick={() => setRead(!isRead)}>
          {isRead ? "As it is written" : "Read as Markdown"} <kbd>m</kbd>
        </button>
      </p>
      {said(objective, OBJECTIVE)}
      {said(details, WORDS)}
      {verify.length > 0 && <Checks title="It is done when" checks={verify} />}
      {items.length > 0 && (
        <section>
          <h3>{items.length === 1 ? "The item" : `The ${items.length} items`}</h3>
          <ol className="items">
            {items.map((item) => <ItemRow key={item.id} item={item} whole={details} all={all} isRead={isRead} />)}
          </ol>
        </section>
      )}
      <section>
        <h3>Where, with what, and what else holds</h3>
        <dl className="facts rest">
          <Rest fields={objective} known={["base_case", ...OBJECTIVE.map(([name]) => name)]} />
          <Rest fields={details} known={KNOWN} />
        </dl>
      </section>
    </>
  );
}

const ITEM_WORDS = [["what_to_do", ""], ["context", "It is told"], ["constraints", "Limits"], ["if_you_get_stuck", "If stuck"]] as const;
/** The whole of a plan stands above its items, and what an agent is told is made of what is shown. */
const ITEM_KNOWN = ["id", "type", "title", "any_of", "touches", "depends_on", "verify", "agent", "pattern", "budget", "own_budget", "told", ...ITEM_WORDS.map(([name]) => name)];
/** What is so for every item that says nothing else. */
const USUAL: Record<string, string> = { interaction_mode: "confirm_only_when_required", on_stuck: "consult_planner", on_failure: "report" };

function ItemRow({ item, whole, all, isRead }: { item: PlanItem; whole: Record<string, unknown>; all: boolean; isRead: boolean }) {
  const [isTold, setTold] = useState(false);
  const { max_attempts: attempts, max_tokens: tokens, max_cost_usd: cost, max_wall_time_seconds: seconds } = item.budget;
  const fields = item as unknown as Record<string, unknown>;
  const usual = Object.keys(USUAL).filter((name) => fields[name] === USUAL[name]);
  return (
    <li>
      <div className="head">
        <code><Visible text={item.id} /></code>
        <strong><Visible text={item.title} /></strong>
        {item.any_of !== null && <Badge>{`one way to ${item.any_of}`}</Badge>}
        {item.touches.services.length > 0 && <Badge tone="bad">{`reaches ${item.touches.services.join(", ")}`}</Badge>}
      </div>
      {ITEM_WORDS.map(([name, title]) => {
        const text = fields[name];
        // What everybody is told stands above.
        return typeof text === "string" && text !== "" && text !== whole[name] && <div key={name} className="words">{title && <span className="muted small">{title}</span>}<Written text={text} isRead={isRead} /></div>;
      })}
      <dl className="facts">
        {item.depends_on.length > 0 && <><dt>After</dt><dd><Visible text={item.depends_on.join(", ")} /></dd></>}
        {item.verify.length > 0 && <><dt>Check</dt><dd>{item.verify.map((check) => <div key={check} className="written"><Visible text={check} /></div>)}</dd></>}
        {item.touches.paths.length > 0 && <><dt>Changes</dt><dd><Visible text={item.touches.paths.join(", ")} /></dd></>}
        {(all || item.agent !== "executor") && <><dt>By</dt><dd><Visible text={`${item.agent}${item.pattern !== "generic" ? `, as ${item.pattern}` : ""}`} /></dd></>}
        {(all || isSaid(fields.own_budget)) && (
          <>
            <dt>At most</dt>
            <dd className="number">{attempts} attempts · {tokens.toLocaleString("en")} tokens · {money(cost)} · {duration(seconds)}</dd>
          </>
        )}
        <Rest fields={fields} known={all ? ITEM_KNOWN : [...ITEM_KNOWN, ...usual, "within"]} />
      </dl>
      {item.told !== null && item.told !== undefined && (
        <details open={isTold} onToggle={(event) => setTold(event.currentTarget.open)}>
          <summary className="muted small">Every word that its agent is told</summary>
          {isTold && <pre className="code-block" tabIndex={0}><Visible text={item.told} /></pre>}
        </details>
      )}
    </li>
  );
}

function Said({ title, text, isRead }: { title: string; text: string; isRead: boolean }) {
  return (
    <section>
      <h3>{title}</h3>
      <Written text={text} isRead={isRead} />
    </section>
  );
}

function Checks({ title, checks }: { title: string; checks: string[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <ul className="affected">
        {checks.map((check) => <li key={check} className="written"><Visible text={check} /></li>)}
      </ul>
    </section>
  );
}
