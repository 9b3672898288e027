// What is asked of the server, under which key. Nothing else keeps what the server can tell.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { ask, get, read, type Schemas } from "./client";
import type { Card, Explanation, StoredRecord, Turn, UserQuestion, Waiting, WorkGraph } from "./types";

/** What says that somebody began something. */
export const BEGINNINGS = ["tool.started", "atom.started"];

/** Pages one after the other, as the server has them. */
const PAGES = { initialPageParam: undefined as string | undefined, getNextPageParam: (page: { next?: string | null }) => page.next ?? undefined };

export const whoami = queryOptions({ queryKey: ["whoami"], queryFn: ({ signal }) => get("/v1/whoami", { signal }), staleTime: Infinity });

/** Everything that somebody has to decide, in the order in which it was asked. */
export const waiting = queryOptions({
  queryKey: ["approvals", "open"],
  queryFn: async ({ signal }): Promise<Waiting[]> => {
    const all: Waiting[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await get("/v1/approvals", { query: { limit: 200, cursor: cursor ?? undefined }, signal });
      for (const { card, task_id, whose, asked_at, standing } of page.approvals) {
        all.push({ kind: "card", id: (card as Card).card_id, task: task_id ?? null, whose: whose ?? null, askedAt: asked_at ?? null, standing, card: card as Card });
      }
      cursor = page.next;
    } while (cursor);
    return all;
  },
});

export const questions = queryOptions({
  queryKey: ["questions", "open"],
  queryFn: async ({ signal }): Promise<Waiting[]> => {
    const all: Waiting[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await get("/v1/questions", { query: { limit: 200, cursor: cursor ?? undefined }, signal });
      for (const { request_id, task_id, whose, asked_at, asked } of page.questions) {
        all.push({ kind: "question", id: request_id, task: task_id, whose: whose ?? null, askedAt: asked_at, asked: asked as UserQuestion });
      }
      cursor = page.next;
    } while (cursor);
    return all;
  },
});

/** Whether it is asked for this task, by itself or by one of its parts. */
export const isFor = (task: string) => (one: Waiting) => one.task === task || one.whose?.task_id === task;

export const question = (id: string) =>
  queryOptions({ queryKey: ["questions", id], queryFn: ({ signal }) => get("/v1/questions/{question}", { path: { question: id }, signal }) });
/** What people said to cards lately, the last word first. */
export const decisions = queryOptions({ queryKey: ["approvals", "decided"], queryFn: async ({ signal }) => (await get("/v1/decisions", { signal })).decisions });

export const approval = (id: string) =>
  queryOptions({ queryKey: ["approval", id], queryFn: ({ signal }) => get("/v1/approvals/{card}", { path: { card: id }, signal }) });

/** All conversations, the one in which something happened last first: their ids say nothing about when they were. */
export const sessions = queryOptions({
  queryKey: ["sessions"],
  queryFn: async ({ signal }) => {
    const all: Schemas["SessionSummary"][] = [];
    let cursor: string | null | undefined;
    do {
      const page = await get("/v1/sessions", { query: { limit: 500, cursor: cursor ?? undefined }, signal });
      all.push(...page.sessions);
      cursor = page.next;
    } while (cursor);
    return { sessions: all.sort((one, other) => Date.parse(other.last_at ?? "") - Date.parse(one.last_at ?? "")) };
  },
});
export const session = (id: string) =>
  queryOptions({ queryKey: ["session", id], queryFn: ({ signal }) => get("/v1/sessions/{session}", { path: { session: id }, signal }) });

export const tasks = infiniteQueryOptions({
  queryKey: ["tasks"],
  queryFn: ({ pageParam, signal }) => get("/v1/tasks", { query: { limit: 50, cursor: pageParam }, signal }),
  ...PAGES,
});
export const task = (id: string) =>
  queryOptions({ queryKey: ["task", id], queryFn: ({ signal }) => get("/v1/tasks/{task}", { path: { task: id }, signal }) });
export const objective = (id: string) =>
  queryOptions({ queryKey: ["task", id, "objective"], queryFn: ({ signal }) => get("/v1/tasks/{task}/objective", { path: { task: id }, signal }) });
export const graph = (id: string) =>
  queryOptions({
    queryKey: ["task", id, "graph"],
    queryFn: async ({ signal }) => (await get("/v1/tasks/{task}/graph", { path: { task: id }, signal })) as unknown as WorkGraph,
  });
export const explanation = (id: string) =>
  queryOptions({
    queryKey: ["task", id, "explanation"],
    queryFn: async ({ signal }) => (await get("/v1/tasks/{task}/explanation", { path: { task: id }, signal })) as unknown as Explanation,
  });
export const deliverables = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["task", id, "deliverables"],
    queryFn: ({ pageParam, signal }) => get("/v1/tasks/{task}/deliverables", { path: { task: id }, query: { limit: 100, cursor: pageParam }, signal }),
    ...PAGES,
  });
export const executionsOf = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["task-executions", id],
    queryFn: ({ pageParam, signal }) => get("/v1/tasks/{task}/executions", { path: { task: id }, query: { limit: 100, cursor: pageParam }, signal }),
    ...PAGES,
  });
/** What was begun last for a task by anybody who works for it. */
export const begunLast = (id: string) =>
  queryOptions({
    queryKey: ["task", id, "begun-last"],
    queryFn: async ({ signal }) => {
      const { records } = await get("/v1/activity", { query: { task: id, kinds: BEGINNINGS.join(","), limit: 1 }, signal });
      return (records[0] ?? null) as StoredRecord | null;
    },
  });
export const spending = (id: string) =>
  queryOptions({ queryKey: ["task-executions", id, "spending"], queryFn: ({ signal }) => get("/v1/tasks/{task}/spending", { path: { task: id }, signal }) });

export const execution = (id: string) =>
  queryOptions({ queryKey: ["execution", id], queryFn: ({ signal }) => get("/v1/executions/{execution}", { path: { execution: id }, signal }) });
/** Who works in it, and on what: that stays as it is whatever happens in it. */
export const worker = (id: string) =>
  queryOptions({ queryKey: ["worker", id], queryFn: ({ signal }) => get("/v1/executions/{execution}", { path: { execution: id }, signal }), staleTime: Infinity });
export const timeline = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["execution", id, "timeline"],
    queryFn: async ({ pageParam, signal }) => {
      const page = await get("/v1/executions/{execution}/timeline", { path: { execution: id }, query: { limit: 50, cursor: pageParam }, signal });
      return { items: page.items as unknown as Turn[], next: page.next };
    },
    ...PAGES,
  });
export const journal = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["execution", id, "journal"],
    queryFn: ({ pageParam, signal }) =>
      get("/v1/executions/{execution}/journal", { path: { execution: id }, query: { limit: 200, cursor: pageParam }, signal }),
    ...PAGES,
  });

export const recordings = infiniteQueryOptions({
  queryKey: ["terminals", "recordings"],
  queryFn: ({ pageParam, signal }) => get("/v1/recordings", { query: { limit: 20, cursor: pageParam }, signal }),
  ...PAGES,
});
export const terminals = queryOptions({ queryKey: ["terminals"], queryFn: ({ signal }) => get("/v1/terminals", { signal }) });
export const agents = queryOptions({ queryKey: ["agents"], queryFn: ({ signal }) => get("/v1/agents", { signal }) });
export const patterns = queryOptions({ queryKey: ["patterns"], queryFn: ({ signal }) => get("/v1/patterns", { signal }) });
export const skills = queryOptions({ queryKey: ["skills"], queryFn: ({ signal }) => get("/v1/skills", { signal }) });
export const gates = queryOptions({ queryKey: ["gates"], queryFn: ({ signal }) => get("/v1/gates", { signal }) });
export const settings = queryOptions({ queryKey: ["settings"], queryFn: ({ signal }) => get("/v1/settings", { signal }), staleTime: Infinity });
export const schedules = infiniteQueryOptions({
  queryKey: ["schedules"],
  queryFn: ({ pageParam, signal }) => get("/v1/schedules", { query: { limit: 100, cursor: pageParam }, signal }),
  ...PAGES,
});
export const deadLetters = infiniteQueryOptions({
  queryKey: ["dead-letters"],
  queryFn: ({ pageParam, signal }) => get("/v1/dead-letters", { query: { limit: 100, cursor: pageParam }, signal }),
  ...PAGES,
});
/** It reads all that was ever signed: once, and then when somebody asks. */
export const auditVerified = queryOptions({
  queryKey: ["audit-verification"],
  queryFn: ({ signal }) => get("/v1/audit/verification", { signal }),
  staleTime: Infinity,
  gcTime: Infinity,
});

/** A blob never changes. */
export const blob = (digest: string) =>
  queryOptions({
    queryKey: ["blob", digest],
    queryFn: async ({ signal }) => read((await ask(`/v1/blobs/${encodeURIComponent(digest)}`, { signal })).blob()),
    staleTime: Infinity,
    gcTime: 60_000,
  });

/** `null`: it is no text. */
export const blobText = (digest: string) =>
  queryOptions({
    queryKey: ["blob-text", digest],
    queryFn: async ({ signal }) => {
      const bytes = await read((await ask(`/v1/blobs/${encodeURIComponent(digest)}`, { signal })).arrayBuffer());
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      } catch {
        return null;
      }
    },
    staleTime: Infinity,
    gcTime: 60_000,
  });
