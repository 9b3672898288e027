import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { describe, expect, test, vi } from "vitest";

import { Frames } from "../api/events";
import type { StoredRecord } from "../api/types";
import { concerned, concerns } from "./concerns";
import { Refresh } from "./refresh";
import { type Ear, Followed } from "./shared";

const asked = (stream: string, kind: string, query: string[], data = {}) => concerns({ stream, kind, data }, (id) => (id === "card" ? "t" : undefined)).some((key) => concerned(key, query));

test.each([
  ["approval/a", "approval.requested", ["approvals", "open"]],
  ["approval/card", "approval.decided", ["task", "t"]],
  ["question/q", "question.answered", ["questions", "open"]],
  ["task/t", "task.finished", ["tasks"]],
  ["task/t", "task.finished", ["task", "t", "deliverables"]],
  ["task/part", "attempt.started", ["task", "t", "graph"]],
  ["graph/t", "atom.ended", ["task", "t", "graph"]],
  ["graph/t", "plan.proposed", ["task", "t", "document"]],
  ["execution/e", "tool.started", ["task", "t", "begun-last"]],
  ["graph/t", "atom.started", ["task", "t", "begun-last"]],
  ["execution/e", "tool.finished", ["execution", "e"]],
  ["execution/e", "tool.finished", ["execution", "e", "timeline"]],
  ["session/s", "user.said", ["session", "s"]],
  ["goal/g", "goal.fired", ["schedules"]],
])("%s %s has %j asked anew", (stream, kind, query) => expect(asked(stream, kind, query)).toBe(true));

test.each([
  ["another task", "task/t", "attempt.started", ["task", "other"]],
  ["a document that is being edited", "graph/t", "atom.ended", ["task", "t", "document"]],
  ["a recording that is being watched", "execution/e", "tool.finished", ["execution", "e", "recording"]],
  ["what everybody used, at each step of somebody", "execution/e", "tool.finished", ["task-executions", "t", "spending"]],
  ["whether the audit is intact", "audit/x", "audit.enqueue", ["audit-verification"]],
  ["what was begun last, when something else ends", "execution/e", "tool.finished", ["task", "t", "begun-last"]],
  ["a blob", "task/t", "task.finished", ["blob", "d"]],
])("%s is left alone", (_, stream, kind, query) => expect(asked(stream, kind, query)).toBe(false));

describe("what records have asked anew", () => {
  const record = (stream: string, kind: string): StoredRecord => ({ position: 1, at: "", stream, kind, version: 1, data: {} });
  const watched = (queries: QueryClient, queryKey: string[], ask: () => Promise<unknown>) => {
    queries.setQueryData(queryKey, 0);
    return new QueryObserver(queries, { queryKey, queryFn: ask, staleTime: Infinity }).subscribe(() => undefined);
  };

  test("is asked once more where it was being asked, and nothing else for its sake", async () => {
    vi.useFakeTimers();
    const queries = new QueryClient();
    const answers: (() => void)[] = [];
    const slow = vi.fn(() => new Promise<unknown>((resolve) => answers.push(() => resolve(1))));
    const quick = vi.fn(() => Promise.resolve(1));
    const refresh = new Refresh(queries);
    const ends = [watched(queries, ["task", "t"], slow), watched(queries, ["task", "t", "objective"], quick)];
    refresh.heard([record("task/t", "attempt.started")]);
    await vi.advanceTimersByTimeAsync(400);
    refresh.heard([record("task/t", "attempt.ended")]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect([slow.mock.calls.length, quick.mock.calls.length]).toEqual([1, 2]);
    answers[0]?.();
    await vi.advanceTimersByTimeAsync(2_000);
    answers[1]?.();
    await vi.advanceTimersByTimeAsync(5_000);
    expect([slow.mock.calls.length, quick.mock.calls.length]).toEqual([2, 2]);
    refresh.end();
    ends.forEach((end) => end());
    vi.useRealTimers();
  });

  test("is the picture of the whole that it is a part of, and of no other", () => {
    const queries = new QueryClient();
    const asked = (task: string) => queries.getQueryState(["task", task, "graph"])?.isInvalidated;
    const shown = (...tasks: string[]) => tasks.forEach((task) => queries.setQueryData(["task", task, "graph"], 0));
    shown("t", "other");
    const refresh = new Refresh(queries);
    refresh.heard([{ ...record("task/part", "task.created"), data: { part_of: { task: "t", root: "t", part: { kind: "atom" } } } }]);
    expect([asked("t"), asked("other")]).toEqual([true, false]);
    refresh.end();
    // One that began before anybody listened: its own page says whose it is.
    shown("t", "other");
    queries.setQueryData(["task", "part"], { task_id: "part", part_of: { root: "t" } });
    const later = new Refresh(queries);
    later.heard([record("task/part", "attempt.started")]);
    expect([asked("t"), asked("other")]).toEqual([true, false]);
    later.end();
    // One of which nobody knows may be anybody's.
    shown("t", "other");
    const last = new Refresh(queries);
    last.heard([record("task/unknown", "attempt.started")]);
    expect([asked("t"), asked("other")]).toEqual([true, true]);
    last.end();
  });

  test("rests for as long as it is large, and is asked then", async () => {
    vi.useFakeTimers();
    const queries = new QueryClient();
    const ask = vi.fn(() => Promise.resolve({ parts: Array.from({ length: 5_000 }, () => 0) }));
    const refresh = new Refresh(queries);
    const end = watched(queries, ["task", "t", "graph"], ask);
    // Whatever happens meanwhile.
    for (let second = 0; second < 20; second += 1) {
      refresh.heard([record("graph/t", "atom.ended")]);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(ask.mock.calls.length).toBeGreaterThanOrEqual(4);
    expect(ask.mock.calls.length).toBeLessThanOrEqual(5);
    await vi.advanceTimersByTimeAsync(6_000);
    const asked = ask.mock.calls.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ask.mock.calls.length).toBe(asked);
    refresh.end();
    end();
    vi.useRealTimers();
  });

  test("of many pages is the last", async () => {
    const queries = new QueryClient();
    const queryKey = ["execution", "e", "journal"];
    const ask = vi.fn(({ pageParam }: { pageParam?: unknown }) => Promise.resolve({ items: [`${String(pageParam)} anew`], next: null }));
    queries.setQueryData(queryKey, { pages: [{ items: ["1"], next: "2" }, { items: ["2"], next: null }], pageParams: [undefined, "2"] });
    const end = new QueryObserver(queries, { queryKey, queryFn: ask as never, staleTime: Infinity }).subscribe(() => undefined);
    new Refresh(queries).heard([record("execution/e", "tool.finished")]);
    await vi.waitFor(() => expect(queries.getQueryData(queryKey)).toMatchObject({ pages: [{ items: ["1"] }, { items: ["2 anew"] }] }));
    expect(ask).toHaveBeenCalledTimes(1);
    end();
  });
});

describe("what a tab makes of what another one hears", () => {
  const ear = () => ({ onRecords: vi.fn(), onDelta: vi.fn(), onHearing: vi.fn(), onMissed: vi.fn(), onReset: vi.fn() }) satisfies Omit<Ear, "signal">;
  const records = (...positions: number[]): StoredRecord[] => positions.map((position) => ({ position, at: "", stream: "task/t", kind: "x", version: 1, data: {} }));
  const positions = (told: ReturnType<typeof ear>) => told.onRecords.mock.calls.flatMap(([some]) => (some as StoredRecord[]).map(({ position }) => position));

  test("nothing is told twice where another takes over", () => {
    const told = ear();
    const followed = new Followed(told);
    followed.told({ what: "hearing", hearing: "live", at: 4 });
    followed.told({ what: "records", after: 4, records: records(5, 7) });
    followed.told({ what: "hearing", hearing: "live", at: 5 });
    followed.told({ what: "records", after: 5, records: records(7, 8) });
    expect([positions(told), followed.at, told.onMissed.mock.calls.length]).toEqual([[5, 7, 8], 8, 0]);
  });

  test("what was not told is noticed", () => {
    const told = ear();
    const followed = new Followed(told);
    followed.told({ what: "hearing", hearing: "live", at: 4 });
    followed.told({ what: "records", after: 6, records: records(7) });
    expect([positions(told), told.onMissed.mock.calls.length]).toEqual([[7], 1]);
    followed.told({ what: "hearing", hearing: "live", at: 9 });
    expect([followed.at, told.onMissed.mock.calls.length]).toEqual([9, 2]);
    followed.told({ what: "reset" });
    expect([followed.at, told.onReset.mock.calls.length]).toEqual([undefined, 1]);
  });
});

describe("events are cut however they come", () => {
  const whole = 'id: 1\nevent: record\ndata: {"a":"x\\n\\ny"}\n\n: still here\n\nevent: delta\ndata: {}\n\n';
  test.each([1, 2, 7, 1_000])("in pieces of %i", (size) => {
    const frames = new Frames();
    const seen = [];
    for (let at = 0; at < whole.length; at += size) seen.push(...frames.add(whole.slice(at, at + size)));
    expect(seen).toEqual([{ event: "record", data: '{"a":"x\\n\\ny"}' }, { event: "delta", data: "{}" }]);
  });
});
