// What terminals showed that are closed by now.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { recordings } from "../api/queries";
import { Ago } from "../parts/Ago";
import { short } from "../text/format";

export function Recordings({ open }: { open: string[] }) {
  const found = useInfiniteQuery(recordings);
  const ended = found.data?.pages.flatMap((page) => page.recordings).filter(({ execution_id }) => !open.includes(execution_id)) ?? [];
  if (ended.length === 0 && !found.hasNextPage) return null;
  return (
    <section className="panel" aria-label="Recordings">
      <header><h2>Recordings</h2></header>
      <ul className="recordings">
        {ended.map((one) => (
          <li key={one.execution_id}>
            <Link to="/executions/$execution" params={{ execution: one.execution_id }} search={{ view: "recording" }}>
              <span>{one.agent_id ?? "terminal"}</span> <span className="muted">{short(one.execution_id)}</span>
              <span className="muted small">ended <Ago at={one.last_at} /></span>
            </Link>
          </li>
        ))}
      </ul>
      {found.hasNextPage && <p className="body"><button type="button" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>Older</button></p>}
    </section>
  );
}
