import { expect, test } from "vitest";

import { cueOf, type Decision } from "./pace";

const MINUTE = 60_000;
const decided = (count: number, seconds: number, more: Partial<Decision> = {}): Decision[] =>
  Array.from({ length: count }, (_, index) => ({ at: index * 1_000, seconds, risky: false, yes: true, ...more }));

test("a pace gets a word only where it may have outrun reading", () => {
  expect(cueOf([], 0)).toBeNull();
  expect(cueOf(decided(3, 1), 3_000)).toBeNull();
  expect(cueOf(decided(1, 2, { risky: true }), 0)).toContain("high risk after 2.0 s");
  expect(cueOf(decided(1, 2, { risky: true, yes: false }), 0)).toBeNull();
  expect(cueOf(decided(12, 5), 12_000)).toContain("12 decisions");
  expect(cueOf(decided(12, 30), 12_000)).toBeNull();
  expect(cueOf(decided(12, 5), 60 * MINUTE)).toBeNull();
  expect(cueOf(decided(6, 1), 6_000)).toContain("Six times yes");
});
