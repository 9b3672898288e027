// How long ago, by one clock for all of them.
import { useSyncExternalStore } from "react";

import { ago } from "../text/format";

let now = Date.now();
const told = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(tell: () => void): () => void {
  told.add(tell);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of told) each();
  }, 5_000);
  return () => {
    told.delete(tell);
    if (told.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

export function Ago({ at }: { at: string }) {
  const millis = Date.parse(at);
  return <time dateTime={at} title={new Date(millis).toLocaleString("en-GB")} className="number">{ago(millis, Math.max(useNow(), millis))}</time>;
}
