// Turns as rows, one under the other, so that as many as one likes can be scrolled through.
import type { Turn, TurnStep } from "../api/types";

export type Row =
  | { kind: "turn"; key: string; turn: Turn }
  | { kind: "asked"; key: string; what: string; text: string }
  | { kind: "step"; key: string; step: TurnStep }
  | { kind: "end"; key: string; how: string };

export function rowsOf(turns: Turn[], find: string): Row[] {
  const wanted = find.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: Row[] = [];
  for (const turn of turns) {
    const inside: Row[] = [
      ...turn.asked.map((asked, index): Row => ({ kind: "asked", key: `${turn.turn}a${index}`, what: asked.kind, text: asked.text })),
      ...turn.steps.map((step, index): Row => ({ kind: "step", key: `${turn.turn}s${step.call_id ?? index}`, step })),
    ].filter((row) => wanted.length === 0 || fits(row, wanted));
    if (inside.length === 0 && wanted.length > 0) continue;
    rows.push({ kind: "turn", key: String(turn.turn), turn }, ...inside);
    if (turn.end !== null && turn.end !== undefined && wanted.length === 0) rows.push({ kind: "end", key: `${turn.turn}e`, how: turn.end.how });
  }
  return rows;
}

function fits(row: Row, wanted: string[]): boolean {
  const text = (row.kind === "asked" ? row.text : JSON.stringify(row.kind === "step" ? row.step : "")).toLowerCase();
  return wanted.every((word) => text.includes(word));
}
