// Server-sent events by `fetch`, which can send the token where `EventSource` cannot. It goes on from the last position that was seen,
// for as long as it is wanted: over servers that restart, connections that break and laptops that sleep.
import { get } from "./client";
import { Problem, problemOf } from "./problem";
import type { Delta, StoredRecord } from "./types";
import { loseToken, token } from "./token";

export type Hearing = "connecting" | "live" | "away";

export interface Listener {
  /** In the order in which they were committed, as many as came at once: all of those after that position. */
  onRecords(records: StoredRecord[], after: number): void;
  onDelta(delta: Delta): void;
  /** With where one is among the records, once that is known. */
  onHearing(hearing: Hearing, position: number | undefined): void;
  /** Something was heard, be it only that the server is there. */
  onSign?(): void;
  /** What was seen is not there any more, since an older copy of the data was put back: everything has to be read anew. */
  onReset(): void;
  after: number | undefined;
  signal: AbortSignal;
}

const FIRST_WAIT = 400;
const LONGEST_WAIT = 8_000;
/** The server says something every 15 seconds; who hears nothing for so long is cut off and does not know it. */
export const SILENCE = 40_000;

/** Everything that happens, and what is only being said. */
export async function listen(listener: Listener): Promise<void> {
  let last = listener.after;
  let wait = FIRST_WAIT;
  while (!listener.signal.aborted) {
    listener.onHearing("connecting", last);
    const ended = await once(last, listener, (position) => {
      last = position;
      wait = FIRST_WAIT;
    });
    if (ended === "over" || listener.signal.aborted) return;
    if (ended === "reset") {
      last = undefined;
      listener.onReset();
    }
    listener.onHearing("away", last);
    await pause(wait * (0.75 + Math.random() / 2), listener.signal);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

async function once(
  last: number | undefined,
  listener: Listener,
  seen: (position: number) => void,
): Promise<"broken" | "reset" | "over"> {
  const cut = new AbortController();
  const abort = () => cut.abort();
  listener.signal.addEventListener("abort", abort);
  let heard = Date.now();
  const watch = setInterval(() => Date.now() - heard > SILENCE && abort(), 5_000);
  // Whoever comes back to the page does not wait for that.
  const woken = () => document.visibilityState === "visible" && Date.now() - heard > 20_000 && abort();
  document.addEventListener("visibilitychange", woken);
  window.addEventListener("online", abort);
  try {
    const bearer = token();
    if (bearer === null) return "over";
    // From a position in any case, so that whoever is cut off before the first record comes misses nothing either.
    let at = last ?? (await get("/v1/activity", { query: { limit: 1 }, signal: cut.signal })).last;
    const headers = { Authorization: `Bearer ${bearer}`, "Last-Event-ID": String(at) };
    const response = await fetch("/v1/events?live=true", { headers, cache: "no-store", credentials: "omit", signal: cut.signal });
    if (!response.ok || response.body === null) {
      if (response.status === 401 && bearer === token()) loseToken();
      if (response.status === 401 || response.status === 403 || response.status === 404) return "over";
      const problem = await problemOf(response);
      return problem.code === "ahead" ? "reset" : "broken";
    }
    seen(at);
    listener.onHearing("live", at);
    const frames = new Frames();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return "broken";
      heard = Date.now();
      const records: StoredRecord[] = [];
      const told = frames.add(value);
      if (told.length === 0) listener.onSign?.();
      for (const frame of told) {
        if (frame.event === "delta") listener.onDelta(JSON.parse(frame.data) as Delta);
        if (frame.event === "record") records.push(JSON.parse(frame.data) as StoredRecord);
      }
      const newest = records.at(-1);
      if (newest === undefined) continue;
      listener.onRecords(records, at);
      // Said only now: what was not taken in is asked for again.
      at = newest.position;
      seen(at);
    }
  } catch (error) {
    return error instanceof Problem && (error.status === 401 || error.status === 403) ? "over" : "broken";
  } finally {
    clearInterval(watch);
    listener.signal.removeEventListener("abort", abort);
    document.removeEventListener("visibilitychange", woken);
    window.removeEventListener("online", abort);
    cut.abort();
  }
}

/** Cuts what comes in into events; what is not whole yet waits for the rest. */
export class Frames {
  private rest = "";

  add(piece: string): { event: string; data: string }[] {
    const blocks = (this.rest + piece).split("\n\n");
    this.rest = blocks.pop() ?? "";
    const frames = [];
    for (const block of blocks) {
      let event = "message";
      const data = [];
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) event = line.slice(7);
        if (line.startsWith("data: ")) data.push(line.slice(6));
      }
      if (data.length > 0) frames.push({ event, data: data.join("\n") });
    }
    return frames;
  }
}

function pause(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, millis);
    window.addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}
