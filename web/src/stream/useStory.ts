// The records of a conversation: the newest of them, earlier ones when they are asked for, and what is added as it happens.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { get } from "../api/client";
import type { StoredRecord } from "../api/types";
import { useLive } from "../live/LiveEvents";
import { isAtEnd } from "./atEnd";
import { merged, type Read, STORY_KINDS, storyOf, withNews } from "./story";

/** So many records are read at once. */
const PAGE = 120;

export function useStory(session: string | undefined, began: number) {
  const { follow } = useLive();
  const [read, setRead] = useState<Read>({ records: [], earlier: undefined });
  const [error, setError] = useState<unknown>(null);
  const [isReading, setReading] = useState(false);
  const end = useRef(new AbortController());
  const hasFailed = useRef(false);

  /** Pages before `from` until some of it was found, or the conversation's beginning. */
  const readBack = useCallback(
    async (from: string | undefined) => {
      if (session === undefined) return;
      const { signal } = end.current;
      setReading(true);
      setError(null);
      try {
        let cursor = from;
        for (;;) {
          const page = await get("/v1/activity", { query: { session, kinds: STORY_KINDS.join(","), limit: PAGE, cursor }, signal });
          const next = page.next && Number(page.next) > began ? page.next : null;
          const found = page.records as StoredRecord[];
          setRead((before) => ({ records: merged(before.records, found), earlier: from === undefined && before.earlier !== undefined ? before.earlier : next }));
          if (next === null || found.length > 0) return;
          cursor = next;
        }
      } catch (problem) {
        if (signal.aborted) return;
        hasFailed.current = true;
        setError(problem);
      } finally {
        if (!signal.aborted) setReading(false);
      }
    },
    [session, began],
  );

  const readAnew = useCallback(() => {
    end.current.abort();
    end.current = new AbortController();
    hasFailed.current = false;
    setRead({ records: [], earlier: undefined });
    void readBack(undefined);
  }, [readBack]);

  useEffect(() => {
    if (session === undefined) return;
    const stop = follow({
      onRecords: (records) => {
        const ours = records.filter(({ stream, kind }) => stream === `session/${session}` && STORY_KINDS.includes(kind));
        if (ours.length > 0) setRead((before) => withNews(before, ours, isAtEnd()));
        // Of an agent's words to the user nobody knows here for which conversation it works: that is asked.
        if (records.some(({ kind, data }) => kind === "owner-effect.recorded" && data.kind === "told")) void readBack(undefined);
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
  }, [session, follow, readAnew, readBack]);

  const { records, earlier } = read;
  const story = useMemo(() => storyOf(records), [records]);
  return {
    story,
    error,
    isReading,
    isRead: earlier !== undefined,
    hasEarlier: typeof earlier === "string",
    readEarlier: () => typeof earlier === "string" && void readBack(earlier),
    again: readAnew,
  };
}
