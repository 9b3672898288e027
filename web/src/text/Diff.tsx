// Lines that go and lines that come. Nothing in them is hidden.
import { useState } from "react";

import { Visible } from "./Visible";
import type { DiffLine } from "./difference";
import "./Diff.css";

const PAGE = 400;
const SAID = { "+": "added: ", "-": "removed: ", " ": "", "@": "" };

export function Diff({ lines, name }: { lines: DiffLine[]; name?: string }) {
  const [shown, setShown] = useState(PAGE);
  return (
    <figure className="diff">
      {name !== undefined && <figcaption><Visible text={name} /></figcaption>}
      <div className="lines" tabIndex={0} role="region" aria-label={name ? `Changes of ${name}` : "Changes"}>
        {lines.slice(0, shown).map(({ sign, text }, index) => (
          <div key={index} className={KIND[sign]}>
            <span aria-hidden="true">{sign === "@" ? "" : sign}</span>
            <code><span className="sr">{SAID[sign]}</span><Visible text={text} /></code>
          </div>
        ))}
      </div>
      {lines.length > shown && (
        <button type="button" className="quiet" onClick={() => setShown(shown * 4)}>
          Show {(lines.length - shown).toLocaleString("en")} more lines
        </button>
      )}
    </figure>
  );
}

const KIND = { "+": "comes", "-": "goes", " ": "stays", "@": "place" };
