// A large output, a piece at a time: asked for by ranges of bytes, shown by whole lines. What is not asked for is not fetched.
import { ask, read } from "../api/client";

export interface Piece {
  text: string;
  /** Bytes of the whole: from the first that is shown to behind the last. */
  from: number;
  to: number;
  /** Behind its first line. */
  second: number;
  total: number;
}

export const PIECE = 64_000;
/** Whoever looks for something reads on in larger steps. */
const STRIDE = 4_000_000;
/** A line that is longer is cut where it is read, and of one in which something was found only what stands around that is read. */
const LONGEST_LINE = 16_000;
const AROUND = 400;
const NEWLINE = 10;

/** All places are counted in bytes, and never in what they were read as: one that is no letter is read as a sign of three. */
const pieceOf = (bytes: Uint8Array, from: number, total: number): Piece => {
  const to = from + bytes.length;
  const newline = bytes.indexOf(NEWLINE);
  return { text: new TextDecoder().decode(bytes), from, to, second: newline < 0 ? to : from + newline + 1, total };
};

/** Cut to whole lines where there are any, so that the next piece begins with one; otherwise to whole letters. */
export function cut(bytes: Uint8Array, from: number, total: number): Piece {
  if (from + bytes.length >= total) return pieceOf(bytes, from, total);
  const last = bytes.lastIndexOf(NEWLINE);
  const isLine = last >= 0 && bytes.length - last <= LONGEST_LINE;
  return pieceOf(bytes.subarray(0, isLine ? last + 1 : whole(bytes)), from, total);
}

/** How many of them are whole letters: one of several bytes may have been cut. */
function whole(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length - 1); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

async function range(digest: string, from: number, most: number, signal: AbortSignal): Promise<{ bytes: Uint8Array; total: number }> {
  const response = await ask(`/v1/blobs/${encodeURIComponent(digest)}`, { headers: { Range: `bytes=${from}-${from + most - 1}` }, signal });
  const bytes = new Uint8Array(await read(response.arrayBuffer()));
  return { bytes, total: Number(/\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1] ?? bytes.length) };
}

export async function piece(digest: string, from: number, signal: AbortSignal, most = PIECE): Promise<Piece> {
  const { bytes, total } = await range(digest, from, most, signal);
  return cut(bytes, from, total);
}

/** The end of it, from the beginning of a line. */
export async function lastPiece(digest: string, total: number, signal: AbortSignal): Promise<Piece> {
  const from = Math.max(0, total - PIECE);
  const { bytes, total: now } = await range(digest, from, PIECE, signal);
  const begin = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
  return pieceOf(bytes.subarray(begin), from + begin, now);
}

/** Each letter as it may be written, large or small. */
const waysOf = (words: string): Uint8Array[][] => {
  const encoder = new TextEncoder();
  return [...words].map((letter) => [...new Set([letter, letter.toLowerCase(), letter.toUpperCase()])].map((way) => encoder.encode(way)));
};

const standsAt = (bytes: Uint8Array, at: number, part: Uint8Array): boolean => part.every((byte, index) => bytes[at + index] === byte);

function placeOf(bytes: Uint8Array, ways: Uint8Array[][], after: number): number {
  const firsts = new Uint8Array(256);
  for (const [byte = 0] of ways[0] ?? []) firsts[byte] = 1;
  for (let at = after; at < bytes.length; at += 1) {
    if (firsts[bytes[at] ?? 0] === 0) continue;
    let end = at;
    const isThere = ways.every((letter) => {
      const way = letter.find((one) => standsAt(bytes, end, one));
      end += way?.length ?? 0;
      return way !== undefined;
    });
    if (isThere) return at;
  }
  return -1;
}

/** Where the words stand next, as a place to read from; none where they do not. Told how far it has looked, case is not minded. */
export async function find(digest: string, words: string, after: number, signal: AbortSignal, told: (upto: number) => void): Promise<number | null> {
  const ways = waysOf(words);
  const longest = ways.reduce((sum, letter) => sum + Math.max(...letter.map(({ length }) => length)), 0);
  // What is read begins a line before what is looked through, so that a line is found that begins in the step before.
  for (let looked = after; ; ) {
    const from = Math.max(after, looked - LONGEST_LINE);
    const { bytes, total } = await range(digest, from, STRIDE, signal);
    const to = from + bytes.length;
    const at = placeOf(bytes, ways, looked - from);
    if (at >= 0) {
      const line = bytes.lastIndexOf(NEWLINE, at - 1) + 1;
      return from + (at === 0 ? 0 : at - line <= LONGEST_LINE ? line : letterAt(bytes, at - AROUND));
    }
    told(to);
    if (to >= total || bytes.length === 0) return null;
    // Words may stand across the cut.
    looked = to - longest + 1;
  }
}

/** The beginning of a letter at a place or just behind it. */
function letterAt(bytes: Uint8Array, at: number): number {
  let begin = at;
  while (begin < at + 3 && ((bytes[begin] ?? 0) & 0xc0) === 0x80) begin += 1;
  return begin;
}
