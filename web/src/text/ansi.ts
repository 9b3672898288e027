// What a program printed, with the colours of its escape sequences and without anything else that they could do.

export interface Painted {
  text: string;
  /** Names of classes: `ansi-31`, `ansi-b`. */
  paint: string;
}

// CSI, OSC, DCS and the like up to their end, single escapes, and lone controls.
// eslint-disable-next-line no-control-regex
const SEQUENCE = /\u001b\[([0-9;:?<=>]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[ -/]*[0-~]?|[\u0080-\u009f]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

export function ansi(text: string): Painted[] {
  const painted: Painted[] = [];
  let state: State = { bold: false, dim: false, italic: false, underline: false, colour: "" };
  let from = 0;
  const add = (words: string) => {
    if (words) painted.push({ text: written(words), paint: classes(state) });
  };
  for (const found of text.matchAll(SEQUENCE)) {
    add(text.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[2] === "m") state = applied(state, found[1] ?? "");
  }
  add(text.slice(from));
  return painted;
}

/** Without what a carriage return wrote over. Line by line, and not by a pattern that begins anew at each letter: fifty megabytes may be one line. */
function written(words: string): string {
  if (!words.includes("\r")) return words;
  const lines = words.split("\n");
  return lines
    .map((line, index) => {
      let end = line.length;
      // Before a line break it ends the line with it.
      if (index < lines.length - 1) while (line[end - 1] === "\r") end -= 1;
      return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
    })
    .join("\n");
}

export const plain = (text: string): string => ansi(text).map((piece) => piece.text).join("");

interface State {
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  colour: string;
}

function applied(before: State, parameters: string): State {
  const state = { ...before };
  const codes = parameters.split(/[;:]/).map((code) => Number(code || 0));
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) Object.assign(state, { bold: false, dim: false, italic: false, underline: false, colour: "" });
    else if (code === 1) state.bold = true;
    else if (code === 2) state.dim = true;
    else if (code === 3) state.italic = true;
    else if (code === 4) state.underline = true;
    else if (code === 22) Object.assign(state, { bold: false, dim: false });
    else if (code === 23) state.italic = false;
    else if (code === 24) state.underline = false;
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) state.colour = String(code > 89 ? code - 60 : code);
    else if (code === 39) state.colour = "";
    // A colour of 256, or of three numbers: what it takes is passed over.
    else if (code === 38 || code === 48) at += codes[at + 1] === 5 ? 2 : codes[at + 1] === 2 ? 4 : 0;
  }
  return state;
}

function classes({ bold, dim, italic, underline, colour }: State): string {
  return [colour && `ansi-${colour}`, bold && "ansi-b", dim && "ansi-d", italic && "ansi-i", underline && "ansi-u"].filter(Boolean).join(" ");
}
