// One ear for everything that happens: each record makes the queries that it concerns be asked anew, at once, and then no more often
// than three times a second however much happens.
import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";

import { type Hearing, listen } from "../api/events";
import type { StoredRecord } from "../api/types";
import { concerns, type Key } from "./concerns";

type Tell = (records: StoredRecord[]) => void;
interface Live {
  hearing: Hearing;
  /** Calls back with what happens from now on; returns how to end it. */
  follow(tell: Tell): () => void;
}

const Context = createContext<Live>({ hearing: "connecting", follow: () => () => undefined });
export const useLive = (): Live => useContext(Context);

const EVERY = 330;

export function LiveEvents({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const [hearing, setHearing] = useState<Hearing>("connecting");
  const told = useRef(new Set<Tell>());

  useEffect(() => {
    const end = new AbortController();
    const waiting = new Map<string, Key>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      const keys = [...waiting.values()];
      waiting.clear();
      timer = keys.length > 0 ? setTimeout(flush, EVERY) : undefined;
      for (const key of keys) {
        // What is being asked may not say yet what just happened: it is asked again once it is answered. To break it off each time would
        // leave a slow answer unheard for as long as things happen.
        if (queries.isFetching({ queryKey: key }) > 0) waiting.set(key.join("/"), key);
        else void queries.invalidateQueries({ queryKey: key });
      }
    };
    void listen("/v1/events", {
      signal: end.signal,
      onHearing: (now) => {
        setHearing(now);
        // Between the last answer and the first event something may have happened.
        if (now === "live") void queries.invalidateQueries();
      },
      onReset: () => void queries.resetQueries(),
      onRecords: (records) => {
        for (const record of records) for (const key of concerns(record)) waiting.set(key.join("/"), key);
        if (timer === undefined && waiting.size > 0) flush();
        for (const tell of told.current) tell(records);
      },
    });
    return () => {
      end.abort();
      clearTimeout(timer);
    };
  }, [queries]);

  const live = useMemo<Live>(
    () => ({
      hearing,
      follow: (tell) => {
        told.current.add(tell);
        return () => told.current.delete(tell);
      },
    }),
    [hearing],
  );
  return <Context.Provider value={live}>{children}</Context.Provider>;
}
