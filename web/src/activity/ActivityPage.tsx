// What happened, the newest first, as sentences. Each line opens its evidence: the record itself, and where it belongs.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";

import type { Surface } from "../api/types";
import { Page } from "../parts/Page";
import { useRested } from "../parts/rested";
import { Failed } from "../parts/States";
import { ActivityList } from "./ActivityList";
import { AuditState } from "./AuditState";
import type { About } from "./sentence";
import { useActivity, type Wanted } from "./useActivity";
import "./Activity.css";

const ABOUTS: [About, string][] = [["decisions", "Decisions"], ["work", "Work"], ["agents", "Agents"], ["conversations", "Conversations"], ["house", "House"]];

const SURFACES: [Surface, string][] = [["stream", "told in Stream"], ["review", "asked in Review"], ["activity", "recorded only here, or here as well"]];

export function ActivityPage() {
  const { about, find = "", all = false, surface } = useSearch({ from: "/activity" });
  const navigate = useNavigate({ from: "/activity" });
  // The server looks through all that ever happened.
  const words = useRested(find);
  const wanted = useMemo<Wanted>(() => ({ about: ABOUTS.map(([name]) => name).find((name) => name === about), words, all, surface }), [about, words, all, surface]);
  const { lines, error, isReading, hasEarlier, readEarlier, again } = useActivity(wanted);
  const change = (to: Partial<Search>) => void navigate({ search: (now) => clean({ ...now, ...to }), replace: true });

  return (
    <Page title="Activity" wide beside={<AuditState />}>
      <div className="filters">
        <input type="search" aria-label="Find" placeholder="Find words that were said, a kind, an id …" value={find} onChange={(event) => change({ find: event.target.value })} />
        <div className="chips" role="group" aria-label="About">
          <button type="button" aria-pressed={about === undefined} onClick={() => change({ about: undefined })}>All</button>
          {ABOUTS.map(([name, called]) => (
            <button key={name} type="button" aria-pressed={about === name} onClick={() => change({ about: about === name ? undefined : name })}>{called}</button>
          ))}
        </div>
        <select aria-label="Where people see it" value={surface ?? ""} onChange={(event) => change({ surface: SURFACES.map(([name]) => name).find((name) => name === event.target.value) })}>
          <option value="">wherever it is seen</option>
          {SURFACES.map(([name, called]) => <option key={name} value={name}>{called}</option>)}
        </select>
        <label className="row"><input type="checkbox" checked={all} onChange={(event) => change({ all: event.target.checked })} /> every record</label>
      </div>
      {error !== null ? <Failed error={error} again={again} /> : <ActivityList lines={lines} isReading={isReading} hasEarlier={hasEarlier} onEarlier={readEarlier} />}
    </Page>
  );
}

interface Search {
  about?: string | undefined;
  find?: string;
  all?: boolean;
  surface?: Surface | undefined;
}

function clean({ about, find, all, surface }: Search): { about?: string; find?: string; all?: boolean; surface?: Surface } {
  return { ...(about ? { about } : {}), ...(find ? { find } : {}), ...(all ? { all: true } : {}), ...(surface ? { surface } : {}) };
}
