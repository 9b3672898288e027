// Whether an agent can be worked with, seen by working with it for a moment, as `windlass agent test` does. A script stands in for its
// model, so that it costs nothing.
import { useMutation, useQuery } from "@tanstack/react-query";

import { post } from "../api/client";
import { whoami } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Refused } from "../parts/States";
import { Visible } from "../text/Visible";

interface Finding {
  type: "finding";
  name: string;
  state: "fine" | "missing";
  detail: string;
  hint: string | null;
}

const SECONDS = 60;

export function AgentTest({ agent }: { agent: string }) {
  const may = useQuery(whoami).data?.scopes.includes("admin") ?? false;
  const test = useMutation({
    mutationFn: async () => {
      const command = { agent_test: { name: agent, model: null, timeout: SECONDS, output: { json: true } } };
      const { said } = await post("/v1/commands/operate", { command });
      return said.flatMap((line) => findings(line));
    },
  });
  if (!may) return <p className="muted small">To test it takes a token with the scope <code>admin</code>.</p>;
  return (
    <div className="stack">
      <p className="row">
        <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>{test.isPending ? "Working with it …" : "Test it"}</button>
        <span className="muted small">It is started for a moment; a script stands in for its model.</span>
      </p>
      <Refused error={test.error} />
      {test.data !== undefined && (
        <dl className="facts" role="status">
          {test.data.map(({ name, state, detail, hint }) => (
            <div key={name} className="fact">
              <dt><Visible text={name} /> <Badge tone={state === "fine" ? "good" : "bad"}>{state}</Badge></dt>
              <dd><Visible text={detail} />{hint && <div className="muted"><Visible text={hint} /></div>}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

/** What a command says for other programs: an object a line, each written as JSON. */
function findings(line: unknown): Finding[] {
  const { object } = line as { object?: string };
  if (object === undefined) return [];
  const said = JSON.parse(object) as Finding;
  return said.type === "finding" ? [said] : [];
}
