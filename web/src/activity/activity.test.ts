import { expect, test } from "vitest";

import document from "../../openapi.json";
import type { StoredRecord } from "../api/types";
import { sentence } from "./sentence";
import { LOUD_KINDS, TELLERS } from "./tellers";
import { isWanted, withNews, type Wanted } from "./useActivity";

const record = (position: number, kind = "user.said", more: Partial<StoredRecord> = {}): StoredRecord => ({ position, at: "", stream: "session/s", kind, version: 1, data: {}, surfaces: [], ...more });
const line = (position: number) => ({ record: record(position), told: sentence(record(position)) });

test("there are words for every kind of record that the server names", () => {
  const kinds = (document as never as { "x-record-kinds": string[] })["x-record-kinds"];
  expect(kinds.length).toBeGreaterThan(100);
  expect(kinds.filter((kind) => TELLERS[kind] === undefined)).toEqual([]);
  // And none of them trips over a record with less in it than it knows of.
  for (const kind of kinds) expect(sentence(record(1, kind)).says, kind).toMatch(/^[A-Z`0-9]/);
});

test("an answer is told as it was given", () => {
  const data = { decision: { route: "new_task", response: "On it." }, done: { kind: "not", why: "There is no room." } };
  expect(sentence(record(1, "turn.ended", { data }))).toMatchObject({ quote: "There is no room.", tone: "warn" });
});

test("what comes is looked at as the server looks", () => {
  const wanted: Wanted = { about: undefined, words: "", all: false, surface: undefined };
  const said = record(1, "user.said", { data: { words: "Make a Shop" }, surfaces: ["stream"] });
  expect(isWanted(said, wanted)).toBe(true);
  expect(isWanted(said, { ...wanted, words: "shop USER.said" })).toBe(true);
  expect(isWanted(said, { ...wanted, words: "shop plants" })).toBe(false);
  expect(isWanted(said, { ...wanted, about: "work" })).toBe(false);
  expect(isWanted(said, { ...wanted, surface: "review" })).toBe(false);
  const quiet = record(2, "model.requested");
  expect([isWanted(quiet, wanted), isWanted(quiet, { ...wanted, all: true })]).toEqual([false, true]);
  expect(LOUD_KINDS).toContain("status.told");
});

test("lines are bounded while more come, and what went can be read again", () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => line(5_000 - index));
  const { lines: kept, earlier } = withNews({ lines, earlier: null }, [line(5_000), line(5_001), line(5_002)], true);
  expect([kept.length, kept[0]?.record.position, earlier]).toEqual([5_000, 5_002, "3"]);
  // Nothing goes from under somebody who reads down there.
  expect(withNews({ lines, earlier: null }, [line(5_001)], false).lines).toHaveLength(5_001);
});
