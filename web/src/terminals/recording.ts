// An asciicast of version 2: a header, and then what was shown when.

export interface Recording {
  cols: number;
  rows: number;
  seconds: number;
  frames: { at: number; text: string; size?: { cols: number; rows: number } }[];
}

/** Longer pauses are cut to this. */
const LONGEST_PAUSE = 2;

export function recordingOf(cast: string): Recording {
  const [first = "{}", ...lines] = cast.split("\n");
  const header = JSON.parse(first) as { width?: number; height?: number };
  const recording: Recording = { cols: header.width ?? 80, rows: header.height ?? 24, seconds: 0, frames: [] };
  let last = 0;
  let at = 0;
  for (const line of lines) {
    if (line === "") continue;
    let event: [number, string, string];
    try {
      event = JSON.parse(line) as [number, string, string];
    } catch {
      // The last line of one that is being written.
      continue;
    }
    const [time, kind, text] = event;
    at += Math.min(Math.max(0, time - last), LONGEST_PAUSE);
    last = time;
    if (kind === "o") recording.frames.push({ at, text });
    const size = kind === "r" ? /^(\d+)x(\d+)$/.exec(text) : null;
    if (size !== null) recording.frames.push({ at, text: "", size: { cols: Number(size[1]), rows: Number(size[2]) } });
  }
  recording.seconds = at;
  return recording;
}
