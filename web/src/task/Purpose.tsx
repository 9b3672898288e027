// What it is for, and when a machine can tell that it is there.
import { useQuery } from "@tanstack/react-query";

import { objective } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Markdown } from "../text/Markdown";
import { Visible } from "../text/Visible";

export function Purpose({ task, goal }: { task: string; goal: string }) {
  const found = useQuery({ ...objective(task), retry: false }).data;
  const sayings: [string, string | undefined][] = [["Why", found?.background_intent], ["What comes of it", found?.deliverables], ["Done means", found?.definition_of_done]];
  return (
    <section className="panel">
      <header>
        <h2>What it is for</h2>
        {found?.base_case_passed !== null && found?.base_case_passed !== undefined && <Badge tone={found.base_case_passed ? "good" : "warn"}>{found.base_case_passed ? "checks pass" : "checks fail"}</Badge>}
      </header>
      <div className="body stack">
        <Markdown text={goal} />
        {sayings.map(([name, said]) => said && <div key={name}><h3 className="muted">{name}</h3><Markdown text={said} /></div>)}
        {found !== undefined && found.base_case.length > 0 && (
          <div>
            <h3 className="muted">It is over when these pass</h3>
            <ul className="checks">{found.base_case.map((check) => <li key={check.name}><code><Visible text={check.name} /></code></li>)}</ul>
          </div>
        )}
      </div>
    </section>
  );
}
