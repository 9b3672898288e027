// What happened, the newest first, as sentences. Each line opens its evidence: the record itself, and where it belongs.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";

import { Page } from "../parts/Page";
import { Failed } from "../parts/States";
import { ActivityList } from "./ActivityList";
import { AuditState } from "./AuditState";
import type { About } from "./sentence";
import { useActivity } from "./useActivity";
import "./Activity.css";

const ABOUTS: [About, string][] = [["decisions", "Decisions"], ["work", "Work"], ["agents", "Agents"], ["conversations", "Conversations"], ["house", "House"]];

export function ActivityPage() {
  const { about, find = "", all = false } = useSearch({ from: "/activity" });
  const navigate = useNavigate({ from: "/activity" });
  const { lines, error, isReading, hasEarlier, readEarlier, again } = useActivity();
  const shown = useMemo(() => {
    const wanted = find.toLowerCase().split(/\s+/).filter(Boolean);
    return lines.filter(({ told, words }) => (all || told.quiet !== true) && (about === undefined || told.about === about) && wanted.every((word) => words.includes(word)));
  }, [lines, about, find, all]);
  const change = (to: { about?: About | undefined; find?: string; all?: boolean }) =>
    void navigate({ search: (now) => clean({ ...now, ...to }), replace: true });

  return (
    <Page title="Activity" wide beside={<AuditState />}>
      <div className="filters">
        <input type="search" aria-label="Find" placeholder="Find words, a kind, the end of an id …" value={find} onChange={(event) => change({ find: event.target.value })} />
        <div className="chips" role="group" aria-label="About">
          <button type="button" aria-pressed={about === undefined} onClick={() => change({ about: undefined })}>All</button>
          {ABOUTS.map(([name, called]) => (
            <button key={name} type="button" aria-pressed={about === name} onClick={() => change({ about: about === name ? undefined : name })}>{called}</button>
          ))}
        </div>
        <label className="row"><input type="checkbox" checked={all} onChange={(event) => change({ all: event.target.checked })} /> every record</label>
      </div>
      {error !== null ? <Failed error={error} again={again} /> : <ActivityList lines={shown} isReading={isReading} hasEarlier={hasEarlier} onEarlier={readEarlier} />}
    </Page>
  );
}

function clean(search: { about?: string | undefined; find?: string; all?: boolean }): { about?: string; find?: string; all?: boolean } {
  return { ...(search.about ? { about: search.about } : {}), ...(search.find ? { find: search.find } : {}), ...(search.all ? { all: true } : {}) };
}
