import { describe, expect, test } from "vitest";

import { Frames } from "../api/events";
import { concerns } from "./concerns";

test.each([
  ["approval/a", "approval.requested", "approvals"],
  ["question/q", "question.answered", "questions"],
  ["task/t", "task.finished", "tasks"],
  ["graph/t", "atom.ended", "task"],
  ["execution/e", "tool.finished", "execution/e"],
  ["session/s", "user.said", "session/s"],
  ["goal/g", "goal.fired", "schedules"],
])("%s %s concerns %s", (stream, kind, key) => expect(concerns({ stream, kind }).map((one) => one.join("/"))).toContain(key));

describe("events are cut however they come", () => {
  const whole = 'id: 1\nevent: record\ndata: {"a":"x\\n\\ny"}\n\n: still here\n\nevent: delta\ndata: {}\n\n';
  test.each([1, 2, 7, 1_000])("in pieces of %i", (size) => {
    const frames = new Frames();
    const seen = [];
    for (let at = 0; at < whole.length; at += size) seen.push(...frames.add(whole.slice(at, at + size)));
    expect(seen).toEqual([{ event: "record", data: '{"a":"x\\n\\ny"}' }, { event: "delta", data: "{}" }]);
  });
});
