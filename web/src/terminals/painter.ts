// Paints a recording up to a place in it. A screen takes what it is given when it comes to it, and is made anew or another size at once: so
// what was given is waited for before that, and whoever drags on meanwhile has nothing painted of the places in between.
import type { Recording } from "./recording";

export interface Screen {
  write(text: string, done: () => void): void;
  reset(): void;
  resize(cols: number, rows: number): void;
}

/** So much is painted in one go: after that it is looked whether another place is wanted. */
const AT_ONCE = 100_000;

export class Painter {
  /** How many frames are painted. */
  private painted = 0;
  private wanted = 0;
  private isPainting = false;

  constructor(
    private readonly screen: Screen,
    private readonly recording: Recording,
  ) {}

  to(at: number): void {
    this.wanted = at;
    if (!this.isPainting) void this.paint();
  }

  private async paint(): Promise<void> {
    const { frames, cols, rows } = this.recording;
    this.isPainting = true;
    for (;;) {
      const last = frames[this.painted - 1];
      const next = frames[this.painted];
      if (last !== undefined && last.at > this.wanted) {
        this.screen.reset();
        this.screen.resize(cols, rows);
        this.painted = 0;
      } else if (next === undefined || next.at > this.wanted) break;
      else if (next.size !== undefined) {
        this.screen.resize(next.size.cols, next.size.rows);
        this.painted += 1;
      } else {
        const text = this.gather();
        await new Promise<void>((done) => this.screen.write(text, done));
      }
    }
    this.isPainting = false;
  }

  /** What stands before the next change of size, or enough of it. */
  private gather(): string {
    const { frames } = this.recording;
    let text = "";
    for (let frame = frames[this.painted]; frame !== undefined && frame.at <= this.wanted && frame.size === undefined && text.length < AT_ONCE; frame = frames[this.painted]) {
      text += frame.text;
      this.painted += 1;
    }
    return text;
  }
}
