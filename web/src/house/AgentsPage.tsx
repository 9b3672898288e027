import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";

import { agents } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { AgentTest } from "./AgentTest";
import { ItemList } from "./ItemList";

interface Agent {
  id: string;
  name: string;
  found: boolean;
  version: string | null;
  runner: string;
  resume?: boolean;
  steer?: boolean;
  fork?: boolean;
  mcp?: boolean;
}

export function AgentsPage() {
  const found = useQuery(agents);
  const { agent: open } = useSearch({ from: "/agents" });
  return (
    <Page title="Agents">
      <Shown query={found} what="agents">
        {({ items }) => (
          <ItemList
            empty="There are no agents."
            open={open}
            hint={<>Open one to see what it can do, and to test it.</>}
            items={(items as unknown as Agent[]).map((agent) => ({
              key: agent.id,
              name: agent.name,
              about: [agent.id, agent.version, agent.runner === "native" ? "Windlass’s own" : "a program of others", agent.resume && "goes on after a crash", agent.steer && "hears words while it works", agent.fork && "can be forked"].filter(Boolean).join(" · "),
              marks: <Badge tone={agent.found ? "good" : "plain"}>{agent.found ? "is here" : "not installed"}</Badge>,
              raw: agent,
              // Its own is Windlass itself: there is no program to test.
              ...(agent.runner === "native" ? {} : { act: <AgentTest agent={agent.id} /> }),
            }))}
          />
        )}
      </Shown>
    </Page>
  );
}
