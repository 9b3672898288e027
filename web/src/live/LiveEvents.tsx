// One ear for everything that happens, shared with the other tabs: each record has the queries asked anew that it concerns, and whoever
// follows is told.
import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";

import type { Hearing } from "../api/events";
import { token } from "../api/token";
import type { Delta, StoredRecord } from "../api/types";
import { Refresh } from "./refresh";
import { hear } from "./shared";

export interface Follower {
  onRecords?(records: StoredRecord[]): void;
  onDelta?(delta: Delta): void;
  /** Something happened that was not told, or an older copy of the data was put back: everything has to be read anew. */
  onAnew?(): void;
  /** The server is heard from here on: what was only being said before that was not, and what could not be asked can be. */
  onHole?(): void;
}

interface Live {
  hearing: Hearing;
  /** Calls back with what happens from now on; returns how to end it. */
  follow(follower: Follower): () => void;
}

const Context = createContext<Live>({ hearing: "connecting", follow: () => () => undefined });
export const useLive = (): Live => useContext(Context);

/** Pages wait so long for that, and are shown in any case then: whoever cannot be heard can perhaps be asked. */
const PATIENCE = 400;

export function LiveEvents({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  // What is asked once one listens needs not be asked again.
  const [isBegun, setBegun] = useState(false);
  const [hearing, setHearing] = useState<Hearing>("connecting");
  const followers = useRef(new Set<Follower>());

  useEffect(() => {
    const end = new AbortController();
    const refresh = new Refresh(queries);
    let wasLive = false;
    let isEarly = false;
    const early = setTimeout(() => {
      isEarly = true;
      setBegun(true);
    }, PATIENCE);
    const tell = (what: (follower: Follower) => void) => followers.current.forEach(what);
    void hear(token() ?? "", {
      signal: end.signal,
      onHearing: (now) => {
        setHearing(now);
        if (now !== "live") return;
        clearTimeout(early);
        setBegun(true);
        if (wasLive) refresh.whatFailed();
        // Between the first answers and the first event something may have happened.
        else if (isEarly) refresh.everything();
        tell(({ onHole }) => onHole?.());
        wasLive = true;
      },
      onMissed: () => {
        refresh.everything();
        tell(({ onAnew }) => onAnew?.());
      },
      onReset: () => {
        void queries.resetQueries();
        tell(({ onAnew }) => onAnew?.());
      },
      onRecords: (records) => {
        refresh.heard(records);
        tell(({ onRecords }) => onRecords?.(records));
      },
      onDelta: (delta) => tell(({ onDelta }) => onDelta?.(delta)),
    });
    return () => {
      end.abort();
      clearTimeout(early);
      refresh.end();
    };
  }, [queries]);

  const live = useMemo<Live>(
    () => ({
      hearing,
      follow: (follower) => {
        followers.current.add(follower);
        return () => followers.current.delete(follower);
      },
    }),
    [hearing],
  );
  return <Context.Provider value={live}>{isBegun ? children : null}</Context.Provider>;
}
