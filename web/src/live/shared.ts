// One connection for all tabs that have the same token: browsers hold few to one server, and each tab holding one of its own would leave
// none for asking. Whoever has the lock listens and tells the others; when that tab goes, the next one goes on from where it was. Tabs
// with other tokens, which may see other things, have a lock and a channel of their own.
import { type Hearing, listen, SILENCE } from "../api/events";
import type { Delta, StoredRecord } from "../api/types";

export interface Ear {
  onRecords(records: StoredRecord[]): void;
  onDelta(delta: Delta): void;
  onHearing(hearing: Hearing): void;
  /** Something was not told to this tab. */
  onMissed(): void;
  onReset(): void;
  signal: AbortSignal;
}

export type Said =
  | { what: "records"; after: number; records: StoredRecord[] }
  | { what: "delta"; delta: Delta }
  | { what: "hearing"; hearing: Hearing; at: number | undefined }
  | { what: "reset" }
  | { what: "sign" }
  /** Somebody new wants to know how it stands. */
  | { what: "who" };

/** What one tab makes of what is told: nothing twice, and whether anything is missing. */
export class Followed {
  /** The position up to which everything was told; none before it is known. */
  at: number | undefined;

  constructor(private readonly ear: Omit<Ear, "signal">) {}

  told(said: Said): void {
    switch (said.what) {
      case "records": {
        if (this.at !== undefined && said.after > this.at) this.ear.onMissed();
        const fresh = said.records.filter(({ position }) => position > (this.at ?? said.after));
        this.at = Math.max(this.at ?? 0, said.records.at(-1)?.position ?? said.after);
        if (fresh.length > 0) this.ear.onRecords(fresh);
        return;
      }
      case "delta":
        return this.ear.onDelta(said.delta);
      case "hearing":
        if (said.at !== undefined && this.at !== undefined && said.at > this.at) this.ear.onMissed();
        if (said.at !== undefined) this.at = Math.max(this.at ?? 0, said.at);
        return this.ear.onHearing(said.hearing);
      case "reset":
        this.at = undefined;
        return this.ear.onReset();
      case "sign":
      case "who":
    }
  }
}

export async function hear(token: string, ear: Ear): Promise<void> {
  const followed = new Followed(ear);
  // Without locks, as in a page that came without TLS from elsewhere, each tab listens for itself.
  if (!("locks" in navigator) || !("BroadcastChannel" in window)) return lead(followed, () => undefined, ear.signal);
  const name = `windlass-events-${await digest(token)}`;
  if (ear.signal.aborted) return;
  const channel = new BroadcastChannel(name);
  let now: Said & { what: "hearing" } = { what: "hearing", hearing: "connecting", at: undefined };
  let isLeading = false;
  let heard = Date.now();
  let isStolen = false;
  let queue = new AbortController();
  const tell = (said: Said) => {
    if (said.what === "hearing") now = said;
    channel.postMessage(said);
  };
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    heard = Date.now();
    if (!isLeading) followed.told(data);
    else if (data.what === "who") channel.postMessage({ ...now, at: followed.at });
  };
  // One that is asleep keeps its lock: whoever is looked at and hears nothing takes it.
  const watch = setInterval(() => {
    if (isLeading || document.visibilityState !== "visible" || Date.now() - heard < SILENCE) return;
    heard = Date.now();
    isStolen = true;
    queue.abort();
  }, 5_000);
  ear.signal.addEventListener("abort", () => {
    clearInterval(watch);
    queue.abort();
    channel.close();
  });
  channel.postMessage({ what: "who" } satisfies Said);
  while (!ear.signal.aborted) {
    queue = new AbortController();
    const end = new AbortController();
    ear.signal.addEventListener("abort", () => end.abort());
    const listening = async () => {
      isLeading = true;
      await lead(followed, tell, end.signal);
      // Nobody may hear any more who has this token: the lock is not wanted again.
      if (!end.signal.aborted) await new Promise((resolve) => end.signal.addEventListener("abort", resolve));
    };
    try {
      if (isStolen) await navigator.locks.request(name, { steal: true }, listening);
      else await navigator.locks.request(name, { signal: queue.signal }, listening);
    } catch {
      // It was stolen, or is not waited for any more.
    }
    isStolen = isStolen && !isLeading;
    isLeading = false;
    end.abort();
  }
}

async function lead(followed: Followed, tell: (said: Said) => void, signal: AbortSignal): Promise<void> {
  const both = (said: Said) => {
    if (signal.aborted) return;
    tell(said);
    followed.told(said);
  };
  await listen({
    after: followed.at,
    signal,
    onRecords: (records, after) => both({ what: "records", after, records }),
    onDelta: (delta) => both({ what: "delta", delta }),
    onHearing: (hearing, at) => both({ what: "hearing", hearing, at }),
    onSign: () => !signal.aborted && tell({ what: "sign" }),
    onReset: () => both({ what: "reset" }),
  });
}

export async function digest(token: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  return Array.from(bytes.slice(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
