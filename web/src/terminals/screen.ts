// An emulator for a screen, in the page's own colours. It paints what it is given, and can do nothing else with it: links in it lead
// nowhere, and what asks for the clipboard, the title or an answer is not heard.
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";

import "./styles";

export function screen(place: HTMLElement, cols: number, rows: number): Terminal {
  const colour = (name: string): string => getComputedStyle(place).getPropertyValue(name).trim() || "#000";
  const paint = document.createElement("canvas").getContext("2d");
  /** The emulator wants colours that are written out; `light-dark()` is not. */
  const written = (name: string): string => {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    place.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    if (paint === null) return colour(name);
    paint.fillStyle = found;
    return paint.fillStyle;
  };
  const terminal = new Terminal({
    cols,
    rows,
    fontFamily: colour("--mono"),
    fontSize: 13,
    scrollback: 5_000,
    cursorBlink: false,
    screenReaderMode: true,
    linkHandler: { activate: () => undefined },
    theme: {
      background: written("--raised"), foreground: written("--text"), cursor: written("--accent"), cursorAccent: written("--raised"), selectionBackground: written("--line-strong"),
      black: written("--muted"), red: written("--bad"), green: written("--good"), yellow: written("--warn"), blue: written("--accent-text"), magenta: written("--violet"), cyan: written("--teal"), white: written("--text"),
      brightBlack: written("--muted"), brightRed: written("--bad"), brightGreen: written("--good"), brightYellow: written("--warn"), brightBlue: written("--accent-text"), brightMagenta: written("--violet"), brightCyan: written("--teal"), brightWhite: written("--text"),
    },
  });
  // Clipboard, titles and links of the program's own.
  for (const code of [0, 1, 2, 8, 52]) terminal.parser.registerOscHandler(code, () => true);
  // What would be answered as if somebody had typed it.
  for (const final of ["c", "n", "t", "x"]) terminal.parser.registerCsiHandler({ final }, () => true);
  terminal.open(place);
  return terminal;
}
