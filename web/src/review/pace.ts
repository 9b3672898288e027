// How fast somebody decides, for a word about it and nothing else. When they decided is in the records; how long they looked before is
// known to this tab alone, and outlives a reload.

export interface Decision {
  at: number;
  /** `null`: it was decided elsewhere. */
  seconds: number | null;
  risky: boolean;
  yes: boolean;
}

const NAME = "windlass.looked";
const MOST = 50;
const WINDOW = 10 * 60_000;

type Looked = [card: string, seconds: number][];

function known(): Looked {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? "[]") as Looked;
  } catch {
    return [];
  }
}

export const secondsSince = (at: number): number => (Date.now() - at) / 1000;
export const noteLooked = (card: string, seconds: number): void => sessionStorage.setItem(NAME, JSON.stringify([...known(), [card, seconds]].slice(-MOST)));
export const lookedAt = (card: string): number | null => known().find(([id]) => id === card)?.[1] ?? null;

/** A word for whoever may have stopped reading: many decisions in little time, or a risky yes in no time. The last decision comes first. */
export function cueOf(all: Decision[], now: number): string | null {
  const recent = all.filter(({ at }) => now - at < WINDOW);
  const last = recent[0];
  if (last === undefined) return null;
  if (last.risky && last.yes && last.seconds !== null && last.seconds < 4) {
    return `You approved something of high risk after ${last.seconds.toFixed(1)} s.`;
  }
  if (recent.length >= 12) {
    return `${recent.length} decisions in 10 minutes: a pause may be good, and a gate may spare you some of them.`;
  }
  if (recent.length >= 6 && recent.slice(0, 6).every(({ yes, seconds }) => yes && seconds !== null && seconds < 3)) {
    return "Six times yes, each within three seconds.";
  }
  return null;
}
