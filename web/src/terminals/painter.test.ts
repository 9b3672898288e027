import { expect, test } from "vitest";

import { Painter, type Screen } from "./painter";
import type { Recording } from "./recording";

/** A screen that takes what it is given only when it is told to. */
function slow() {
  const done: string[] = [];
  const queue: (() => void)[] = [];
  let lost = 0;
  const now = (what: string) => {
    // What is still waited for would be painted behind it.
    lost += queue.length;
    done.push(what);
  };
  const screen: Screen = {
    write: (text, end) => void queue.push(() => (done.push(text), end())),
    reset: () => now("reset"),
    resize: (cols, rows) => now(`${cols}x${rows}`),
  };
  const paints = async () => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
      step();
      await Promise.resolve();
      await Promise.resolve();
    }
  };
  return { screen, done, paints, one: () => queue.shift()?.(), lost: () => lost };
}

const recording: Recording = {
  cols: 80, rows: 24, seconds: 4,
  frames: [{ at: 0, text: "a" }, { at: 1, text: "b" }, { at: 2, text: "", size: { cols: 40, rows: 10 } }, { at: 3, text: "c" }],
};

test("what was given is painted before the screen is another size or anew", async () => {
  const { screen, done, paints, lost } = slow();
  const painter = new Painter(screen, recording);
  painter.to(4);
  await paints();
  expect(done).toEqual(["ab", "40x10", "c"]);
  painter.to(1);
  await paints();
  expect(done.slice(3)).toEqual(["reset", "80x24", "ab"]);
  expect(lost()).toBe(0);
});

test("of the places that somebody drags over only the last is painted", async () => {
  const { screen, done, paints, lost } = slow();
  const painter = new Painter(screen, recording);
  painter.to(0);
  for (const at of [4, 1, 3.5, 0.5]) painter.to(at);
  await paints();
  expect(done).toEqual(["a"]);
  painter.to(4);
  painter.to(0);
  await paints();
  expect([done.at(-1), lost()]).toEqual(["a", 0]);
});

test("a recording of many frames is painted in few goes", async () => {
  const { screen, done, paints } = slow();
  const frames = Array.from({ length: 100_000 }, (_, index) => ({ at: index / 1_000, text: "0123456789" }));
  new Painter(screen, { cols: 80, rows: 24, seconds: 100, frames }).to(100);
  await paints();
  expect(done.length).toBe(10);
  expect(done.join("").length).toBe(1_000_000);
});
