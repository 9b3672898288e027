// A story as it happens: of a conversation from its beginning, or of a task from now on.
import { useEffect, useState } from "react";

import { listen } from "../api/events";
import type { Delta } from "../api/types";
import { noStory, type Story, withDeltas, withRecords } from "./story";

export function useStory(path: string | undefined, from: "beginning" | "now" = "beginning"): Story {
  const [story, setStory] = useState(noStory);
  useEffect(() => {
    setStory(noStory());
    if (path === undefined) return;
    const end = new AbortController();
    let deltas: Delta[] = [];
    let frame = 0;
    const show = () => {
      frame = 0;
      const pieces = deltas;
      deltas = [];
      setStory((before) => withDeltas(before, pieces));
    };
    void listen(path, {
      ...(from === "beginning" ? { after: 0 } : {}),
      live: true,
      signal: end.signal,
      onRecords: (records) => {
        // What was said before the record belongs before it.
        if (deltas.length > 0) {
          cancelAnimationFrame(frame);
          show();
        }
        setStory((before) => withRecords(before, records));
      },
      onDelta: (delta) => {
        deltas.push(delta);
        frame ||= requestAnimationFrame(show);
      },
      onReset: () => setStory(noStory()),
    });
    return () => {
      end.abort();
      cancelAnimationFrame(frame);
    };
  }, [path, from]);
  return story;
}
