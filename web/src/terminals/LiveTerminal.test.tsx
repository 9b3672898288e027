import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import LiveTerminal from "./LiveTerminal";

const painted: string[] = [];
const queue: (() => void)[] = [];
vi.mock("./screen", () => ({
  screen: () => ({
    onData: () => undefined,
    attachCustomKeyEventHandler: () => undefined,
    write: (data: string | Uint8Array, done?: () => void) => queue.push(() => (data.length > 0 && painted.push(new TextDecoder().decode(data as Uint8Array)), done?.())),
    reset: () => painted.push("reset"),
    resize: (cols: number, rows: number) => painted.push(`${cols}x${rows}`),
    dispose: () => undefined,
  }),
}));

class Socket {
  static OPEN = 1;
  static all: Socket[] = [];
  onmessage: (event: { data: unknown }) => void = () => undefined;
  constructor() {
    Socket.all.push(this);
  }
  close() {}
}

const place = document.body.appendChild(document.createElement("div"));
let root: ReturnType<typeof createRoot>;
let statuses: number[];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("WebSocket", Socket);
  vi.stubGlobal("ResizeObserver", class { observe() {} disconnect() {} });
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ detail: "too many", protocol: "p" }, { status: statuses.shift() ?? 200 })));
  Socket.all = [];
  painted.length = queue.length = 0;
  root = createRoot(place);
});
afterEach(() => {
  act(() => root.unmount());
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const shows = async (answered: number[]) => {
  statuses = answered;
  await act(async () => root.render(<LiveTerminal execution="e" />));
  await act(() => vi.advanceTimersByTimeAsync(30_000));
};

test("a server that is asked too much, or is away, is asked again after a while", async () => {
  await shows([429, 429, 503]);
  expect(Socket.all.length).toBe(1);
});

test("one that says no is not", async () => {
  await shows([403]);
  expect([Socket.all.length, statuses.length]).toEqual([0, 0]);
  expect(place.textContent).toContain("Too many.");
});

test("what came before another size is painted before it", async () => {
  await shows([]);
  const socket = Socket.all[0];
  const says = (told: object) => act(() => socket?.onmessage({ data: JSON.stringify(told) }));
  const prints = (text: string) => socket?.onmessage({ data: new TextEncoder().encode(text).buffer });
  prints("old");
  await says({ type: "hello", name: "n", may_type: false });
  prints("one");
  await says({ type: "size", cols: 40, rows: 10 });
  prints("two");
  queue.forEach((step) => step());
  expect(painted).toEqual(["old", "reset", "one", "40x10", "two"]);
});
