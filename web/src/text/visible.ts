// What cannot be seen, written out: control, bidirectional and zero-width characters, odd blanks, and blanks at the end of a line. A card
// that hides something is no card.

/** Piece by piece; `odd` ones stand for one character each. */
export interface Piece {
  text: string;
  odd: boolean;
}

// Everything but letters, marks, numbers, punctuation, symbols and the plain blank: controls, formats, separators, what is unassigned
// and what is private; besides these what looks like nothing though it is a letter or a mark.
const ODD = /[\p{C}\p{Z}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u2800\u3164\uFE00-\uFE0F\uFFA0\u{E0100}-\u{E01EF}]/u;

/** The same where there is room for words alone, as in an option of a list. */
export const shown = (text: string): string => visible(text).map((piece) => piece.text).join("");

export function visible(text: string, isPiece = false): Piece[] {
  const pieces: Piece[] = [];
  let plain = "";
  const end = () => {
    if (plain) pieces.push({ text: plain, odd: false });
    plain = "";
  };
  for (let at = 0; at < text.length; ) {
    if (text[at] === " ") {
      // All of a run at once: to look from each blank to its end takes a page of blanks the square of it.
      const from = at;
      while (text[at] === " ") at += 1;
      const isTrailing = at === text.length ? !isPiece : text[at] === "\n";
      if (!isTrailing) plain += text.slice(from, at);
      else {
        end();
        for (let blank = from; blank < at; blank += 1) pieces.push({ text: "<U+0020>", odd: true });
      }
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (character !== "\n" && ODD.test(character)) {
      end();
      pieces.push({ text: `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`, odd: true });
    } else {
      plain += character;
    }
    at += character.length;
  }
  end();
  return pieces;
}
