// What a program printed, a page at a time: a 50 MB output is not put on the screen at once.
import { memo, useMemo, useState } from "react";

import { ansi } from "./ansi";
import { bytes } from "./format";
import "./Printed.css";

const PAGE = 20_000;

export const Printed = memo(function Printed({ text, page = PAGE }: { text: string; page?: number }) {
  const [shown, setShown] = useState(page);
  const head = useMemo(() => ansi(text.slice(0, shown)), [text, shown]);
  return (
    <div className="printed">
      <pre tabIndex={0} aria-label="Output">
        {head.map(({ text, paint }, index) => (paint ? <span key={index} className={paint}>{text}</span> : text))}
      </pre>
      {text.length > shown && (
        <button type="button" className="quiet" onClick={() => setShown(shown + 10 * page)}>
          Show more ({bytes(text.length - shown)} left)
        </button>
      )}
    </div>
  );
});
