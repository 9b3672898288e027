// What happened, the newest first, as it is looked for: the server looks, page by page, and what happens from now on is added. This is a
// view of the journal and not a copy: what is out of sight can be read again.
import { useCallback, useEffect, useRef, useState } from "react";

import { get } from "../api/client";
import type { StoredRecord, Surface } from "../api/types";
import { useLive } from "../live/LiveEvents";
import { type About, type Sentence, sentence, stemsOf } from "./sentence";
import { LOUD_KINDS } from "./tellers";

export interface Line {
  record: StoredRecord;
  told: Sentence;
}

/** What somebody looks for. */
export interface Wanted {
  about: About | undefined;
  words: string;
  /** Bookkeeping as well. */
  all: boolean;
  surface: Surface | undefined;
}

const PAGE = 200;
/** So many lines are kept while more come; what goes at the far end is read again when somebody comes there. */
const MOST = 5_000;
const line = (record: StoredRecord): Line => ({ record, told: sentence(record) });

/** As the server looks for it. */
export function isWanted({ stream, kind, data, surfaces = [] }: StoredRecord, { about, words, all, surface }: Wanted): boolean {
  const stem = stream.split("/")[0] ?? "";
  if (about !== undefined && !stemsOf(about).includes(stem)) return false;
  if (surface !== undefined && !surfaces.includes(surface)) return false;
  if (!all && !LOUD_KINDS.includes(kind)) return false;
  const sought = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (sought.length === 0) return true;
  const text = `${kind} ${stream} ${JSON.stringify(data)}`.toLowerCase();
  return sought.every((word) => text.includes(word));
}

interface Read {
  lines: Line[];
  /** Where earlier ones are; null where there are none, and undefined before anything was read. */
  earlier: string | null | undefined;
}

/** What comes is put before what is there, and nothing twice; of many lines the oldest go. */
export function withNews({ lines, earlier }: Read, news: Line[], isAtTop: boolean): Read {
  const newest = lines[0]?.record.position ?? 0;
  const fresh = news.filter(({ record }) => record.position > newest).reverse();
  if (fresh.length === 0) return { lines, earlier };
  const all = [...fresh, ...lines];
  if (all.length <= MOST || !isAtTop) return { lines: all, earlier };
  const kept = all.slice(0, MOST);
  return { lines: kept, earlier: String(kept.at(-1)?.record.position) };
}

export function useActivity(wanted: Wanted) {
  const { follow } = useLive();
  const [read, setRead] = useState<Read>({ lines: [], earlier: undefined });
  const [error, setError] = useState<unknown>(null);
  const [isReading, setReading] = useState(true);
  const end = useRef(new AbortController());
  const hasFailed = useRef(false);
  const told = useCallback((records: StoredRecord[]) => records.filter((record) => isWanted(record, wanted)).map(line).filter((one) => wanted.all || one.told.quiet !== true), [wanted]);

  const readBack = useCallback(
    async (cursor: string | undefined) => {
      const { signal } = end.current;
      setReading(true);
      setError(null);
      try {
        const { about, words, all, surface } = wanted;
        const query = { limit: PAGE, cursor, about: about && stemsOf(about).join(","), words: words.trim() || undefined, kinds: all ? undefined : LOUD_KINDS.join(","), surface };
        const page = await get("/v1/activity", { query, signal });
        setRead(({ lines }) => {
          const known = new Set(lines.map(({ record }) => record.position));
          const found = told(page.records as StoredRecord[]).filter(({ record }) => !known.has(record.position));
          return { lines: [...lines, ...found].sort((one, other) => other.record.position - one.record.position), earlier: page.next ?? null };
        });
      } catch (problem) {
        if (signal.aborted) return;
        hasFailed.current = true;
        setError(problem);
      } finally {
        if (!signal.aborted) setReading(false);
      }
    },
    [wanted, told],
  );

  const readAnew = useCallback(() => {
    end.current.abort();
    end.current = new AbortController();
    hasFailed.current = false;
    setRead({ lines: [], earlier: undefined });
    void readBack(undefined);
  }, [readBack]);

  useEffect(() => {
    const stop = follow({
      onRecords: (records) => {
        const news = told(records);
        if (news.length > 0) setRead((before) => withNews(before, news, window.scrollY < window.innerHeight));
      },
      onAnew: readAnew,
      // The server is there again.
      onHole: () => hasFailed.current && readAnew(),
    });
    readAnew();
    const ended = end;
    return () => {
      stop();
      ended.current.abort();
    };
  }, [follow, told, readAnew]);

  const { lines, earlier } = read;
  return { lines, error, isReading, hasEarlier: typeof earlier === "string", readEarlier: () => typeof earlier === "string" && !isReading && void readBack(earlier), again: readAnew };
}
