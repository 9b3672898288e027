// When tokens and money went, and who was at work when, from the records of a task.
import type { StoredRecord } from "../api/types";

export interface Spending {
  begin: number;
  end: number;
  points: { at: number; tokens: number; cost: number }[];
  spans: Map<string, [number, number]>;
}

export function spendingOf(records: StoredRecord[]): Spending {
  const spent: Spending = { begin: Infinity, end: -Infinity, points: [], spans: new Map() };
  let [tokens, cost] = [0, 0];
  for (const { at, stream, kind, data } of records) {
    const millis = Date.parse(at);
    spent.begin = Math.min(spent.begin, millis);
    spent.end = Math.max(spent.end, millis);
    const [about, id = ""] = stream.split("/", 2);
    if (about !== "execution") continue;
    const span = spent.spans.get(id);
    spent.spans.set(id, [span?.[0] ?? millis, millis]);
    if (kind !== "model.responded") continue;
    const usage = data.usage as { input?: number; output?: number } | undefined;
    tokens += (usage?.input ?? 0) + (usage?.output ?? 0);
    cost += Number(data.cost ?? 0);
    spent.points.push({ at: millis, tokens, cost });
  }
  return spent;
}
