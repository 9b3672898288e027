// Everything that happened, a window of it: the newest first read from behind, and then as it happens. Earlier windows are fetched when
// they are asked for. This is a view of the journal and not a copy: what is out of sight can be read again.
import { useCallback, useEffect, useRef, useState } from "react";

import { happened, lastPosition } from "../api/events";
import type { StoredRecord } from "../api/types";
import { useLive } from "../live/LiveEvents";
import { type Sentence, searched, sentence } from "./sentence";

export interface Line {
  record: StoredRecord;
  told: Sentence;
  /** What a search looks through. */
  words: string;
}

/** How many positions a window has. */
const WINDOW = 3_000;
const line = (record: StoredRecord): Line => {
  const told = sentence(record);
  return { record, told, words: searched(record, told) };
};

export function useActivity() {
  const { follow } = useLive();
  const [lines, setLines] = useState<Line[]>([]);
  const [begin, setBegin] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isReading, setReading] = useState(true);
  const end = useRef(new AbortController());

  /** Newest first; what both the window and the events brought is there once. */
  const add = useCallback((records: StoredRecord[]) => {
    setLines((before) => {
      const newest = before[0]?.record.position ?? 0;
      const fresh = records.filter(({ position }) => position > newest).map(line).reverse();
      return fresh.length === 0 ? before : [...fresh, ...before];
    });
  }, []);

  const readBefore = useCallback(async (before: number) => {
    const { signal } = end.current;
    setReading(true);
    try {
      const from = Math.max(0, before - WINDOW);
      const found: Line[] = [];
      for await (const record of happened("/v1/events", from, before, signal)) found.push(line(record));
      setLines((now) => {
        const oldest = now.at(-1)?.record.position ?? Infinity;
        return [...now, ...found.filter(({ record }) => record.position < oldest).reverse()];
      });
      setBegin(from);
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    } finally {
      if (!signal.aborted) setReading(false);
    }
  }, []);

  const readAll = useCallback(async () => {
    end.current.abort();
    end.current = new AbortController();
    const { signal } = end.current;
    setLines([]);
    setError(null);
    try {
      await readBefore(await lastPosition(signal));
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    }
  }, [readBefore]);

  useEffect(() => {
    // What comes while the window is read waits for it, so that the order is right.
    let early: StoredRecord[] | null = [];
    const stop = follow((records) => (early === null ? add(records) : early.push(...records)));
    void readAll().then(() => {
      const held = early ?? [];
      early = null;
      add(held);
    });
    const ended = end;
    return () => {
      stop();
      ended.current.abort();
    };
  }, [follow, add, readAll]);

  return { lines, error, isReading, hasEarlier: begin !== null && begin > 0, readEarlier: () => begin !== null && void readBefore(begin), again: () => void readAll() };
}
