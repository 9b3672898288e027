// What a goal is: how it fared when it was looked at last, and who mends it; what holds where it holds, and what whoever mends it is told.
import { Link } from "@tanstack/react-router";

import type { Schemas } from "../api/client";
import { short } from "../text/format";
import { Visible } from "../text/Visible";
import { Written } from "../text/Written";

export type Goal = Extract<Schemas["Schedule"], { type: "goal" }>;

export function GoalContent({ goal }: { goal: Goal }) {
  const { title, workspace, checks, what_to_do, last, fix, card_id } = goal;
  return (
    <>
      <p>{last ? <CameTo look={last} /> : <span className="muted">Nobody has looked at it yet.</span>}</p>
      <details>
        <summary>What it is: <Visible text={title} /></summary>
        <div className="stack">
          <dl className="facts small">
            <dt>It holds when</dt>
            <dd>{checks.map((check, index) => <div key={index} className="mono"><Visible text={check} /></div>)}</dd>
            <dt>In</dt><dd className="mono"><Visible text={workspace} /></dd>
            {fix && <><dt>Sent last to mend it</dt><dd><Link to="/tasks/$task" params={{ task: fix }}>Task {short(fix)}</Link></dd></>}
            {card_id && <><dt>Leave to mend it</dt><dd><Link to="/review/$id" params={{ id: card_id }}>Card {short(card_id)}</Link></dd></>}
          </dl>
          {what_to_do !== "" && (
            <section>
              <h3>What whoever mends it is told</h3>
              <Written text={what_to_do} />
            </section>
          )}
          <p className="muted small">One that is to be another is removed and added anew: leave to mend it was given for what it is.</p>
        </div>
      </details>
    </>
  );
}

function CameTo({ look }: { look: Schemas["GoalLook"] }) {
  const task = (id: string) => <Link to="/tasks/$task" params={{ task: id }}>task {short(id)}</Link>;
  switch (look.came_to) {
    case "holds":
      return "It held when it was looked at last.";
    case "broken":
      return <>It did not hold (<Visible text={look.failed.join(", ")} />); {task(look.task_id)} mends it.</>;
    case "skipped":
      return <>It was not looked at, because {task(look.task_id)} still mended it.</>;
    case "troubled":
      return <>It could not be looked at: <Visible text={look.message} /></>;
  }
}
