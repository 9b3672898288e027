// What the server finds of what somebody looks for, in what it wrote down when tasks and executions began: also those that no page has read.
import { queryOptions } from "@tanstack/react-query";

import { get } from "../api/client";
import type { StoredRecord } from "../api/types";
import { firstLine, short } from "../text/format";

export interface Found {
  kind: "task" | "execution";
  id: string;
  name: string;
}

/** Fewer letters stand in everything. */
const FEWEST = 3;
const MOST = 12;
/** Each page looks through so many records, and none need be in it. */
const PAGES = 10;

export const found = (typed: string) => {
  const words = typed.trim().slice(0, 256);
  return queryOptions({
    queryKey: ["found", words],
    queryFn: async ({ signal }): Promise<Found[]> => {
      const all: Found[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < PAGES && all.length < MOST; page += 1) {
        const { records, next } = await get("/v1/activity", { query: { kinds: "task.created,journal.header", words, limit: MOST, cursor }, signal });
        all.push(...foundIn(records as StoredRecord[]));
        if (!next) break;
        cursor = next;
      }
      return all;
    },
    enabled: words.length >= FEWEST,
    gcTime: 0,
  });
};

/** Parts of a task are found with the whole, on its page. */
export function foundIn(records: StoredRecord[]): Found[] {
  return records.flatMap(({ stream, kind, data }): Found[] => {
    const id = stream.split("/")[1] ?? "";
    if (kind === "journal.header") return [{ kind: "execution", id, name: `${text(data.agent_id) || "agent"} · ${short(id)}` }];
    const { goal } = (data.command ?? {}) as { goal?: unknown };
    return data.part_of || data.turn ? [] : [{ kind: "task", id, name: `${firstLine(text(goal))} · ${short(id)}` }];
  });
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
