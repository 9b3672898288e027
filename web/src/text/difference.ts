// What is different between two texts, line by line: the longest common run of lines stays.

export interface DiffLine {
  sign: "+" | "-" | " " | "@";
  text: string;
}

/** Above so many lines on either side, all goes and all comes. */
const MOST = 2_000;

export function difference(before: string, after: string): DiffLine[] {
  const [old, now] = [split(before), split(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const middle = between(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  return [...old.slice(0, head).map(stays), ...middle, ...old.slice(old.length - tail).map(stays), ...ending(before, after)];
}

/** A line break at the end makes no line, and is a difference. */
function ending(before: string, after: string): DiffLine[] {
  const [was, is] = [before.endsWith("\n"), after.endsWith("\n")];
  return was === is || before === "" || after === "" ? [] : [{ sign: "@", text: is ? "and a line break comes at its end" : "and the line break at its end goes" }];
}

const split = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
const stays = (text: string): DiffLine => ({ sign: " ", text });
const goes = (text: string): DiffLine => ({ sign: "-", text });
const comes = (text: string): DiffLine => ({ sign: "+", text });

function between(old: string[], now: string[]): DiffLine[] {
  if (old.length > MOST || now.length > MOST) return [...old.map(goes), ...now.map(comes)];
  // `common[i][j]`: how many lines the ends from i and j on have in common.
  const width = now.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [left, right] = [old[i], now[j]];
    if (left !== undefined && left === right) {
      lines.push(stays(left));
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(goes(left));
      i += 1;
    } else if (right !== undefined) {
      lines.push(comes(right));
      j += 1;
    }
  }
  return lines;
}

/** As a patch has it, with two lines around each change. */
export function asPatch(lines: DiffLine[], around = 2): string {
  const isNear = (index: number): boolean => lines.slice(Math.max(0, index - around), index + around + 1).some(({ sign }) => sign !== " ");
  const kept: string[] = [];
  let gap = false;
  lines.forEach(({ sign, text }, index) => {
    if (isNear(index)) {
      if (gap && kept.length > 0) kept.push("@@");
      gap = false;
      kept.push(`${sign}${text}`);
    } else gap = true;
  });
  return kept.join("\n");
}

/** So many lines are shown around what is different. */
const AROUND = 3;
/** A shorter stretch is not worth a line that says how long it is. */
const SHORTEST = 3;

/** A line and its place, or how many stay as they are from there on. */
export type Row = (DiffLine & { at: number }) | { at: number; stay: number };

/** Stretches that stay as they are, in one row each, but those that were opened. */
export function folded(lines: DiffLine[], open: ReadonlySet<number>): Row[] {
  const near = new Uint8Array(lines.length);
  lines.forEach(({ sign }, index) => sign !== " " && near.fill(1, Math.max(0, index - AROUND), index + AROUND + 1));
  const rows: Row[] = [];
  for (let at = 0; at < lines.length; ) {
    let end = at;
    while (end < lines.length && near[end] === 0) end += 1;
    if (end - at >= SHORTEST && !open.has(at)) rows.push({ at, stay: end - at });
    else for (const [index, line] of lines.slice(at, Math.max(end, at + 1)).entries()) rows.push({ ...line, at: at + index });
    at = Math.max(end, at + 1);
  }
  return rows;
}

export const counted = (lines: DiffLine[]): { goes: number; comes: number } => ({
  goes: lines.filter(({ sign }) => sign === "-").length,
  comes: lines.filter(({ sign }) => sign === "+").length,
});
