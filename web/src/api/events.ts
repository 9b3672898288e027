// Server-sent events by `fetch`, which can send the token where `EventSource` cannot. One listener goes on from the last position it
// has seen, for as long as it is wanted: over servers that restart, connections that break and laptops that sleep.
import { address } from "./client";
import { problemOf } from "./problem";
import type { Delta, StoredRecord } from "./types";
import { loseToken, token } from "./token";

export type Hearing = "connecting" | "live" | "away";

export interface Listener {
  /** In the order in which they were committed, as many as came at once. */
  onRecords(records: StoredRecord[]): void;
  onDelta?(delta: Delta): void;
  onHearing?(hearing: Hearing): void;
  /** What was seen is not there any more: everything has to be read anew. */
  onReset?(): void;
  after?: number;
  live?: boolean;
  signal: AbortSignal;
}

const FIRST_WAIT = 400;
const LONGEST_WAIT = 8_000;
/** The server says something every 15 seconds; who hears nothing for so long is cut off and does not know it. */
const SILENCE = 40_000;

export async function listen(path: string, listener: Listener): Promise<void> {
  // Position 0 is before everything.
  let last = listener.after;
  let wait = FIRST_WAIT;
  while (!listener.signal.aborted) {
    listener.onHearing?.("connecting");
    const ended = await once(path, last, listener, (position) => {
      last = position;
      wait = FIRST_WAIT;
    });
    if (ended === "over" || listener.signal.aborted) return;
    if (ended === "reset") {
      last = undefined;
      listener.onReset?.();
    }
    listener.onHearing?.("away");
    await pause(wait * (0.75 + Math.random() / 2), listener.signal);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

async function once(
  path: string,
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
    const headers: Record<string, string> = { Authorization: `Bearer ${bearer}` };
    if (last !== undefined) headers["Last-Event-ID"] = String(last);
    const response = await fetch(address(path, {}, { live: listener.live }), { headers, cache: "no-store", credentials: "omit", signal: cut.signal });
    if (!response.ok || response.body === null) {
      if (response.status === 401 && bearer === token()) loseToken();
      if (response.status === 401 || response.status === 403 || response.status === 404) return "over";
      const problem = await problemOf(response);
      return problem.code === "ahead" ? "reset" : "broken";
    }
    listener.onHearing?.("live");
    const frames = new Frames();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return "broken";
      heard = Date.now();
      const records: StoredRecord[] = [];
      for (const frame of frames.add(value)) {
        if (frame.event === "delta") listener.onDelta?.(JSON.parse(frame.data) as Delta);
        if (frame.event === "record") records.push(JSON.parse(frame.data) as StoredRecord);
      }
      const newest = records.at(-1);
      if (newest === undefined) continue;
      listener.onRecords(records);
      // Said only now: what was not taken in is asked for again.
      last = newest.position;
      seen(newest.position);
    }
  } catch {
    return "broken";
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

/** Everything between two positions, and an end: for what happened before one looked. */
export async function* happened(path: string, after: number, until: number, signal: AbortSignal): AsyncGenerator<StoredRecord> {
  const response = await fetch(address(path, {}, { after, until_now: true }), {
    headers: { Authorization: `Bearer ${token()}` },
    cache: "no-store",
    credentials: "omit",
    signal,
  });
  if (!response.ok || response.body === null) throw await problemOf(response);
  const frames = new Frames();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const frame of frames.add(value)) {
        if (frame.event !== "record") continue;
        const record = JSON.parse(frame.data) as StoredRecord;
        if (record.position > until) return;
        yield record;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The API has no route for it, but says it to whoever names one that is not there yet. */
export async function lastPosition(signal: AbortSignal): Promise<number> {
  const response = await fetch(address("/v1/events", {}, { after: Number.MAX_SAFE_INTEGER, until_now: true }), {
    headers: { Authorization: `Bearer ${token()}` },
    cache: "no-store",
    credentials: "omit",
    signal,
  });
  const problem = await problemOf(response);
  if (problem.code !== "ahead") throw problem;
  return Number(/(\d+)\D*$/.exec(problem.message)?.[1] ?? 0);
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
