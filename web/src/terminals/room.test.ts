import { expect, test } from "vitest";

import { roomOf } from "./room";

const letter = { width: 8, height: 16 };

test.each([
  [800, 480, { cols: 100, rows: 30 }],
  [807, 495, { cols: 100, rows: 30 }],
  // A phone has few columns, and a wall no more than a screen.
  [200, 100, { cols: 40, rows: 10 }],
  [9_000, 9_000, { cols: 300, rows: 100 }],
])("%d by %d", (width, height, size) => expect(roomOf(width, height, letter)).toEqual(size));

test("what is not painted yet has no size", () => {
  expect(roomOf(0, 480, letter)).toBeNull();
  expect(roomOf(800, 480, { width: NaN, height: 16 })).toBeNull();
});
