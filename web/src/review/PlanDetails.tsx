// A plan as it would be worked on: what everybody is told, and each item with its checks and what it waits for.
import { useState } from "react";

import type { Card, PlanItem } from "../api/types";
import { Badge } from "../parts/Badge";
import { duration, money } from "../text/format";
import { Markdown } from "../text/Markdown";
import { Visible } from "../text/Visible";

export const isPlan = (card: Card): boolean => card.details.kind === "plan" || card.details.kind === "goal";

export function PlanDetails({ card, all }: { card: Card; all: boolean }) {
  const { context, constraints, if_you_get_stuck: stuck, items = [], verify = [] } = card.details as unknown as {
    context?: string;
    constraints?: string;
    if_you_get_stuck?: string;
    items?: PlanItem[];
    verify?: string[];
  };
  const objective = card.details.objective as { goal?: string; base_case?: { name?: string }[] } | null | undefined;
  return (
    <>
      {objective?.goal !== undefined && <Said title="What is wanted" text={objective.goal} />}
      {context && <Said title="Everybody is told" text={context} />}
      {constraints && <Said title="Rules" text={constraints} />}
      {stuck && all && <Said title="Whoever gets stuck" text={stuck} />}
      {verify.length > 0 && <Checks title="It is done when" checks={verify} />}
      {items.length > 0 && (
        <section>
          <h3>{items.length === 1 ? "The item" : `The ${items.length} items`}</h3>
          <ol className="items">
            {items.map((item) => <ItemRow key={item.id} item={item} all={all} />)}
          </ol>
        </section>
      )}
    </>
  );
}

function ItemRow({ item, all }: { item: PlanItem; all: boolean }) {
  const [isTold, setTold] = useState(false);
  const waitsFor = item.depends_on ?? [];
  return (
    <li>
      <div className="head">
        <code>{item.id}</code>
        <strong><Visible text={item.title} /></strong>
        {item.any_of !== null && <Badge>{`one way to ${item.any_of}`}</Badge>}
        {item.touches.services.length > 0 && <Badge tone="bad">{`reaches ${item.touches.services.join(", ")}`}</Badge>}
      </div>
      {item.what_to_do && <div className="words"><Markdown text={item.what_to_do} /></div>}
      <dl className="facts">
        {waitsFor.length > 0 && <><dt>After</dt><dd>{waitsFor.join(", ")}</dd></>}
        {item.verify.length > 0 && <><dt>Check</dt><dd>{item.verify.map((check) => <div key={check}><Visible text={check} /></div>)}</dd></>}
        {item.touches.paths.length > 0 && <><dt>Changes</dt><dd><Visible text={item.touches.paths.join(", ")} /></dd></>}
        {(all || item.agent !== "executor") && <><dt>By</dt><dd>{item.agent}{item.pattern !== "generic" && `, as ${item.pattern}`}</dd></>}
        {all && (
          <>
            <dt>At most</dt>
            <dd className="number">
              {item.budget.max_attempts} attempts · {item.budget.max_tokens.toLocaleString("en")} tokens · {money(item.budget.max_cost_usd)} · {duration(item.budget.max_wall_time_seconds)}
            </dd>
          </>
        )}
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

function Said({ title, text }: { title: string; text: string }) {
  return (
    <section>
      <h3>{title}</h3>
      <Markdown text={text} />
    </section>
  );
}

function Checks({ title, checks }: { title: string; checks: string[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <ul className="affected">
        {checks.map((check) => <li key={check}><Visible text={check} /></li>)}
      </ul>
    </section>
  );
}
