// Asks anew what a record concerns: at once, and then no more often than three times a second however much happens, and what is large more
// seldom. What is being asked may not say yet what just happened: it is asked again once it is answered. To break it off each time would
// leave a slow answer unheard for as long as things happen.
import type { InfiniteData, Query, QueryClient, QueryKey } from "@tanstack/react-query";

import type { StoredRecord, Task } from "../api/types";
import { concerned, concerns, growsAtItsEnd, isLasting, type Key, rest, type TaskOf, wholeIn, type WholeOf } from "./concerns";

const EVERY = 330;

export class Refresh {
  private keys: Key[] = [];
  /** Those that were being asked when a record came, by their hashes: each is asked once more, and nothing else for its sake. */
  private again = new Set<string>();
  /** Which task is part of which, as far as it was told. */
  private readonly wholes = new Map<string, string>();
  private readonly readingEnds = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly queries: QueryClient) {}

  heard(records: StoredRecord[]): void {
    for (const record of records) {
      const found = wholeIn(record);
      if (found !== undefined) this.wholes.set(...found);
      this.keys.push(...concerns(record, this.taskOf, this.wholeOf));
    }
    if (this.timer === undefined && this.keys.length > 0) this.flush();
  }

  /** Something happened that was not told: everything that can be another by now is asked anew. */
  everything(): void {
    void this.queries.invalidateQueries({ predicate: ({ queryKey }) => !isLasting(queryKey) });
  }

  /** The server is there again: what could not be asked is asked again. What happened meanwhile is told by records. */
  whatFailed(): void {
    void this.queries.invalidateQueries({ predicate: ({ state }) => state.status === "error" });
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private flush(): void {
    const keys = [...new Map(this.keys.map((key) => [key.join("/"), key])).values()];
    const again = this.again;
    this.keys = [];
    this.again = new Set();
    this.timer = keys.length + again.size > 0 ? setTimeout(() => this.flush(), EVERY) : undefined;
    for (const query of this.queries.getQueryCache().getAll()) {
      const { queryHash, queryKey, state } = query;
      if (!again.has(queryHash) && !keys.some((key) => concerned(key, queryKey))) continue;
      if (state.fetchStatus === "fetching" || this.readingEnds.has(queryHash) || Date.now() - state.dataUpdatedAt < rest(state.data)) this.again.add(queryHash);
      else if (growsAtItsEnd(queryKey) && query.isActive()) void this.readEnd(query);
      else void this.queries.invalidateQueries({ queryKey, exact: true });
    }
  }

  /** Of many pages the last one alone is asked again. */
  private async readEnd(query: Query): Promise<void> {
    const data = query.state.data as InfiniteData<unknown> | undefined;
    const { queryFn } = query.options;
    if (data === undefined || data.pages.length < 2 || typeof queryFn !== "function") {
      await this.queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
      return;
    }
    const pageParam = data.pageParams.at(-1);
    this.readingEnds.add(query.queryHash);
    const asked = { client: this.queries, queryKey: query.queryKey, pageParam, direction: "forward", meta: query.meta, signal: new AbortController().signal };
    const page: unknown = await Promise.resolve(queryFn(asked as never)).catch(() => undefined);
    this.readingEnds.delete(query.queryHash);
    if (page === undefined) return;
    this.queries.setQueryData(query.queryKey, (now: InfiniteData<unknown> | undefined) =>
      // Another page may have been read meanwhile.
      now === undefined || now.pageParams.at(-1) !== pageParam ? now : { ...now, pages: [...now.pages.slice(0, -1), page] },
    );
  }

  private readonly wholeOf: WholeOf = (id) => {
    const told = this.wholes.get(id);
    if (told !== undefined) return told;
    const listed = this.queries.getQueryData<InfiniteData<{ tasks: Task[] }>>(["tasks"])?.pages.flatMap(({ tasks }) => tasks) ?? [];
    const known = this.queries.getQueryData<Task>(["task", id]) ?? listed.find(({ task_id }) => task_id === id);
    return known === undefined ? undefined : (known.part_of?.root ?? id);
  };

  private readonly taskOf: TaskOf = (id) => {
    const known = (key: QueryKey) => this.queries.getQueryData<{ id: string; task: string | null }[]>(key) ?? [];
    return [...known(["approvals", "open"]), ...known(["questions", "open"])].find((one) => one.id === id)?.task;
  };
}
