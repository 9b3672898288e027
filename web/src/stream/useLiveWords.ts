// What is being said and printed by those who work for some tasks, as it is.
import { useEffect, useState } from "react";

import { useLive } from "../live/LiveEvents";
import { isSilent, type LiveNow, type LiveWords, nothingSaid, torn, withDeltas, withRecorded } from "./live";

export function useLiveWords(isWanted: (task: string) => boolean): LiveWords[] {
  const { follow } = useLive();
  const [live, setLive] = useState<LiveNow>(nothingSaid);
  useEffect(() => {
    let deltas: Parameters<typeof withDeltas>[1] = [];
    let frame = 0;
    const show = () => {
      cancelAnimationFrame(frame);
      frame = 0;
      const pieces = deltas;
      deltas = [];
      if (pieces.length > 0) setLive((before) => withDeltas(before, pieces));
    };
    const stop = follow({
      onDelta: (delta) => {
        deltas.push(delta);
        frame ||= requestAnimationFrame(show);
      },
      onRecords: (records) => {
        // What was said before the record belongs before it.
        show();
        setLive((before) => withRecorded(before, records));
      },
      onHole: () => {
        show();
        setLive(torn);
      },
      onAnew: () => {
        deltas = [];
        setLive(nothingSaid());
      },
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [follow]);
  return [...live.words.values()].filter((words) => !isSilent(words) && isWanted(words.task));
}

