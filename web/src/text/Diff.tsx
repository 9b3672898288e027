// Lines that go and lines that come, how many of each, and what stands around them. Long stretches that stay as they are stand behind one
// line each, so that no change is far behind them. Nothing in the lines is hidden.
import { useMemo, useState } from "react";

import { counted, type DiffLine, folded } from "./difference";
import { plural } from "./format";
import { Visible } from "./Visible";
import "./Diff.css";

const PAGE = 400;
const SAID = { "+": "added: ", "-": "removed: ", " ": "", "@": "" };

export function Diff({ lines, name }: { lines: DiffLine[]; name?: string }) {
  const [shown, setShown] = useState(PAGE);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const rows = useMemo(() => folded(lines, open), [lines, open]);
  const { goes, comes } = useMemo(() => counted(lines), [lines]);
  return (
    <figure className="diff">
      <figcaption>
        {name !== undefined && <><Visible text={name} /> · </>}
        <span className="number">{goes + comes === 0 ? "no line goes and none comes" : [goes > 0 && plural(goes, "line goes", "lines go"), comes > 0 && plural(comes, "line comes", "lines come")].filter(Boolean).join(", ")}</span>
      </figcaption>
      <div className="lines" tabIndex={0} role="region" aria-label={name ? `Changes of ${name}` : "Changes"}>
        {rows.slice(0, shown).map((row) =>
          "stay" in row ? (
            <button key={row.at} type="button" className="quiet fold" onClick={() => setOpen(new Set([...open, row.at]))}>
              {plural(row.stay, "line stays as it is", "lines stay as they are")}; show
            </button>
          ) : (
            <div key={row.at} className={KIND[row.sign]}>
              <span aria-hidden="true">{row.sign === "@" ? "" : row.sign}</span>
              <code><span className="sr">{SAID[row.sign]}</span><Visible text={row.text} /></code>
            </div>
          ),
        )}
      </div>
      {rows.length > shown && (
        <button type="button" className="quiet" onClick={() => setShown(shown * 4)}>
          Show {(rows.length - shown).toLocaleString("en")} more lines
        </button>
      )}
    </figure>
  );
}

const KIND = { "+": "comes", "-": "goes", " ": "stays", "@": "place" };
