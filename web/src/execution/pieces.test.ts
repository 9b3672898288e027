import { afterEach, expect, test, vi } from "vitest";

import { cut, find, lastPiece, piece, PIECE } from "./pieces";

const bytes = (text: string) => new TextEncoder().encode(text);
const never = new AbortController().signal;

/** A blob as the server has it: by ranges, and how much was asked for. */
function served(text: string | Uint8Array<ArrayBuffer>) {
  const all = typeof text === "string" ? bytes(text) : text;
  let asked = 0;
  vi.stubGlobal("fetch", (_: string, { headers }: { headers: Record<string, string> }) => {
    const [, from = 0, to = 0] = (/(\d+)-(\d+)/.exec(headers.Range ?? "") ?? []).map(Number);
    const part = all.slice(from, to + 1);
    asked += part.length;
    return Promise.resolve(new Response(part, { status: 206, headers: { "Content-Range": `bytes ${from}-${from + part.length - 1}/${all.length}` } }));
  });
  return { size: all.length, asked: () => asked };
}
afterEach(() => vi.unstubAllGlobals());

test("a piece ends with a line, and the last one with the end", () => {
  expect(cut(bytes("one\ntwo\nthr"), 0, 100)).toEqual({ text: "one\ntwo\n", from: 0, to: 8, second: 4, total: 100 });
  expect(cut(bytes("thr"), 97, 100)).toEqual({ text: "thr", from: 97, to: 100, second: 100, total: 100 });
  expect(cut(bytes("no line at all"), 0, 100).to).toBe(14);
});

test("pieces one after the other are all of it, letters of several bytes among them", async () => {
  const text = Array.from({ length: 9_000 }, (_, line) => `línea ${line} 漢字 🎉\n`).join("");
  served(text);
  let [whole, from] = ["", 0];
  for (;;) {
    const one = await piece("d", from, never);
    whole += one.text;
    if (one.to >= one.total) break;
    from = one.to;
  }
  expect(whole).toBe(text);
});

test("the end of fifty megabytes costs one piece, and begins with a line", async () => {
  const blob = served("a line of what was printed, and another\n".repeat(1_300_000) + "the end");
  const { text } = await lastPiece("d", blob.size, never);
  expect(text.startsWith("a line of")).toBe(true);
  expect(text.endsWith("the end")).toBe(true);
  expect(blob.asked()).toBeLessThanOrEqual(PIECE);
});

test("what is looked for is found where its line begins, also far behind, and again behind that", async () => {
  const text = "a line of words\n".repeat(600_000) + "here is the Needle, ünd so\n" + "more\n".repeat(10) + "needle again\n";
  served(text);
  const at = await find("d", "NEEDLE", 0, never, () => undefined);
  expect((await piece("d", at ?? 0, never)).text.split("\n")[0]).toBe("here is the Needle, ünd so");
  const again = await find("d", "needle", (at ?? 0) + 20, never, () => undefined);
  expect((await piece("d", again ?? 0, never)).text.split("\n")[0]).toBe("needle again");
  expect(await find("d", "nowhere", 0, never, () => undefined)).toBeNull();
});

const looks = (words: string, after = 0) => find("d", words, after, never, () => undefined);
const firstLine = async (at: number | null) => (await piece("d", at ?? 0, never)).text.split("\n")[0];

test("places are counted in bytes, whatever they are read as", async () => {
  // A byte that is no letter is read as a sign of three, and some letters have another length when they are small.
  served(new Uint8Array([...new Uint8Array(3_000).fill(0xff), ...bytes("\nİİİ\nhere it is\nand behind\n")]));
  const at = await looks("HERE IT");
  expect(at).toBe(3_000 + 1 + bytes("İİİ\n").length);
  expect(await firstLine(at)).toBe("here it is");
  const { second } = await piece("d", 0, never);
  expect(second).toBe(3_001);
});

test("letters are the same large and small, also those of several bytes", async () => {
  served("nothing\nÄpfel ÜBEN straße\n");
  for (const words of ["äpfel üben", "ÄPFEL", "über", "STRAßE"]) expect(await looks(words)).toBe(words === "über" ? null : 8);
});

test("words across the place where one step of looking ends are found, in short lines and in one that never ends", async () => {
  for (const shift of [-6, -3, -1, 0]) {
    served(`${"x".repeat(4_000_000 + shift)}needle${"y".repeat(200_000)}`);
    const at = await looks("needle");
    expect((await piece("d", at ?? 0, never)).text.indexOf("needle")).toBe(400);
    // A line that begins before the step ends is found from its beginning.
    const lines = "x".repeat(99) + "\n";
    served(`${lines.repeat(39_999)}${"z".repeat(100 + shift)}needle of it\n${lines}`);
    expect(await looks("needle")).toBe(3_999_900);
  }
});

test("a letter is not cut in two where a line has no end", async () => {
  const text = "漢".repeat(100_000);
  served(text);
  let [whole, from] = ["", 0];
  for (let one = await piece("d", 0, never); ; one = await piece("d", from, never)) {
    whole += one.text;
    from = one.to;
    if (one.to >= one.total) break;
  }
  expect(whole === text).toBe(true);
});
