// A large output, a piece at a time: asked for by ranges of bytes, shown by whole lines. What is not asked for is not fetched.
import { ask, read } from "../api/client";

export interface Piece {
  text: string;
  /** Bytes of the whole: from the first that is shown to behind the last. */
  from: number;
  to: number;
  total: number;
}

export const PIECE = 64_000;
/** Whoever looks for something reads on in larger steps, and no line is longer than this that could be found whole. */
const STRIDE = 4_000_000;
const LONGEST_LINE = 16_000;
const NEWLINE = 10;

/** Cut to whole lines where there are any, so that the next piece begins with one. */
export function cut(bytes: Uint8Array, from: number, total: number): Piece {
  const end = from + bytes.length;
  const last = end < total ? bytes.lastIndexOf(NEWLINE) : bytes.length - 1;
  const whole = last < 0 || bytes.length - last > LONGEST_LINE ? bytes : bytes.subarray(0, last + 1);
  return { text: new TextDecoder().decode(whole), from, to: from + whole.length, total };
}

export async function piece(digest: string, from: number, signal: AbortSignal, most = PIECE): Promise<Piece> {
  const response = await ask(`/v1/blobs/${encodeURIComponent(digest)}`, { headers: { Range: `bytes=${from}-${from + most - 1}` }, signal });
  const bytes = new Uint8Array(await read(response.arrayBuffer()));
  const total = Number(/\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1] ?? bytes.length);
  return cut(bytes, from, total);
}

/** The end of it, from the beginning of a line. */
export async function lastPiece(digest: string, total: number, signal: AbortSignal): Promise<Piece> {
  const found = await piece(digest, Math.max(0, total - PIECE), signal);
  const begin = found.from === 0 ? 0 : found.text.indexOf("\n") + 1;
  const skipped = new TextEncoder().encode(found.text.slice(0, begin)).length;
  return { ...found, text: found.text.slice(begin), from: found.from + skipped };
}

/** Where the words stand next, as a place to read from; none where they do not. Told how far it has looked, case is not minded. */
export async function find(digest: string, words: string, after: number, signal: AbortSignal, told: (upto: number) => void): Promise<number | null> {
  const wanted = words.toLowerCase();
  for (let from = after; ; ) {
    const { text, to, total } = await piece(digest, from, signal, STRIDE);
    const at = text.toLowerCase().indexOf(wanted);
    if (at >= 0) {
      const line = text.lastIndexOf("\n", at) + 1;
      return from + new TextEncoder().encode(text.slice(0, line)).length;
    }
    told(to);
    if (to >= total) return null;
    from = to;
  }
}
