// Turns as rows, one under the other, so that as many as one likes can be scrolled through. A long turn comes in several pieces; it is
// one turn here all the same, with one head and one end.
import type { Turn, TurnStep } from "../api/types";

export type Row =
  | { kind: "turn"; key: string; turn: Turn }
  | { kind: "asked"; key: string; what: string; text: string }
  | { kind: "step"; key: string; step: TurnStep }
  | { kind: "end"; key: string; says: string };

/** `isAll`: there are no more pieces than these. */
export function rowsOf(pieces: Turn[], find: string, isAll: boolean): Row[] {
  const wanted = find.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: Row[] = [];
  let [piece, isHeaded] = [0, false];
  pieces.forEach((told, index) => {
    const { turn, continues = false } = told;
    if (!continues) [piece, isHeaded] = [0, false];
    piece += 1;
    const key = `${turn}.${piece}`;
    const inside: Row[] = [
      ...told.asked.flatMap((asked, at): Row[] => (fits(asked, wanted) ? [{ kind: "asked", key: `${key}a${at}`, what: asked.kind, text: asked.text }] : [])),
      ...told.steps.flatMap((step, at): Row[] => (fits(step, wanted) ? [{ kind: "step", key: `${key}s${at}`, step }] : [])),
    ];
    if (!isHeaded && (inside.length > 0 || wanted.length === 0)) {
      rows.push({ kind: "turn", key: String(turn), turn: told });
      isHeaded = true;
    }
    for (const row of inside) rows.push(row);
    const next = pieces[index + 1];
    const isLast = next === undefined ? isAll : next.continues !== true;
    const says = isLast && wanted.length === 0 ? ended(told.end, next === undefined) : undefined;
    if (says !== undefined) rows.push({ kind: "end", key: `${turn}e`, says });
  });
  return rows;
}

function ended(end: Turn["end"], isNewest: boolean): string | undefined {
  const because = end?.reason ? `: ${end.reason}` : ".";
  switch (end?.how) {
    case "completed":
      return "The turn is over.";
    case "interrupted":
      return "The turn was interrupted.";
    case "failed":
      return `The turn failed${because}`;
    case "rests":
      return `It rests${because}`;
    case "open":
      return isNewest ? "It is at work on this." : undefined;
    default:
      return undefined;
  }
}

/** A step may be large, and is looked through at every letter that somebody types: it is written out once. */
const LOWERED = new WeakMap<object, string>();

function fits(said: object, wanted: string[]): boolean {
  if (wanted.length === 0) return true;
  const text = LOWERED.get(said) ?? JSON.stringify(said).toLowerCase();
  LOWERED.set(said, text);
  return wanted.every((word) => text.includes(word));
}
