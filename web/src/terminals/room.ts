// How many characters a place has room for. Nobody is served by a terminal of a few columns, and a huge one is no screen.
export interface Size {
  cols: number;
  rows: number;
}

const LEAST: Size = { cols: 40, rows: 10 };
const MOST: Size = { cols: 300, rows: 100 };
const between = (least: number, count: number, most: number): number => Math.min(most, Math.max(least, Math.floor(count)));

export function roomOf(width: number, height: number, letter: { width: number; height: number }): Size | null {
  if (!(letter.width > 0 && letter.height > 0 && width > 0 && height > 0)) return null;
  return { cols: between(LEAST.cols, width / letter.width, MOST.cols), rows: between(LEAST.rows, height / letter.height, MOST.rows) };
}

/** Measured on the screen itself, which is painted with so many of them. */
export function room(place: HTMLElement, now: Size): Size | null {
  const painted = place.querySelector<HTMLElement>(".xterm-screen");
  if (painted === null) return null;
  const { paddingLeft, paddingRight, paddingTop, paddingBottom } = getComputedStyle(place);
  const [width, height] = [place.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight), place.clientHeight - parseFloat(paddingTop) - parseFloat(paddingBottom)];
  return roomOf(width, height, { width: painted.clientWidth / now.cols, height: painted.clientHeight / now.rows });
}
