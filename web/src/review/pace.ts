// How fast one decides, for a word about it and nothing else. It is this tab's, and forgotten with it.

export interface Decision {
  at: number;
  seconds: number;
  risky: boolean;
  yes: boolean;
}

const decisions: Decision[] = [];
const told = new Set<() => void>();
let cue: string | null = null;

export const secondsLookedAt = (since: number): number => (Date.now() - since) / 1000;
export const paceCue = (): string | null => cue;

export function onPace(tell: () => void): () => void {
  told.add(tell);
  return () => told.delete(tell);
}

export function noteDecision(decision: Decision): void {
  decisions.push(decision);
  cue = cueOf(decisions, decision.at);
  for (const each of told) each();
}

/** A word for whoever may have stopped reading: many decisions in little time, or a risky yes in no time. */
export function cueOf(all: Decision[], now: number): string | null {
  const last = all.at(-1);
  if (last === undefined) return null;
  if (last.risky && last.yes && last.seconds < 4) {
    return `You approved something of high risk after ${last.seconds.toFixed(1)} s.`;
  }
  const recent = all.filter(({ at }) => now - at < 15 * 60_000);
  const mean = recent.reduce((sum, { seconds }) => sum + seconds, 0) / recent.length;
  if (recent.length >= 12 && mean < 8) {
    return `${recent.length} decisions in a quarter of an hour, ${mean.toFixed(0)} s each: a pause may be good, and a gate may spare you some of them.`;
  }
  if (recent.length >= 6 && recent.slice(-6).every(({ yes, seconds }) => yes && seconds < 3)) {
    return "Six times yes, each within three seconds.";
  }
  return null;
}
