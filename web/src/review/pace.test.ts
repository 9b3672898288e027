import { expect, test } from "vitest";

import { cueOf, type Decision } from "./pace";

const MINUTE = 60_000;
/** The last one first. */
const decided = (count: number, seconds: number | null, more: Partial<Decision> = {}): Decision[] =>
  Array.from({ length: count }, (_, index) => ({ at: (count - index) * 1_000, seconds, risky: false, yes: true, ...more }));

test("a pace gets a word only where it may have outrun reading", () => {
  expect(cueOf([], 0)).toBeNull();
  expect(cueOf(decided(3, 1), 3_000)).toBeNull();
  expect(cueOf(decided(1, 2, { risky: true }), 1_000)).toContain("high risk after 2.0 s");
  expect(cueOf(decided(1, null, { risky: true }), 1_000)).toBeNull();
  expect(cueOf(decided(1, 2, { risky: true, yes: false }), 1_000)).toBeNull();
  expect(cueOf(decided(12, null), 12_000)).toContain("12 decisions in 10 minutes");
  expect(cueOf(decided(12, 5), 11 * MINUTE)).toBeNull();
  expect(cueOf(decided(6, 1), 6_000)).toContain("Six times yes");
  expect(cueOf(decided(6, 30), 6_000)).toBeNull();
});
