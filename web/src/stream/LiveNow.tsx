// What is being said or printed at this moment, before it is a record.
import { useEffect, useRef } from "react";

import { plain } from "../text/ansi";
import type { LiveWords } from "./live";

export function LiveNow({ words }: { words: LiveWords }) {
  return (
    <div className="live">
      {words.hasHole && <p className="muted small">Some of it was not heard here; all of it stands in the record once it is said.</p>}
      {words.reasoning !== "" && words.text === "" && <p className="reasoning">{words.reasoning.slice(-600)}</p>}
      {words.text !== "" && <p>{words.text}</p>}
      {words.note !== "" && <p className="muted">{words.note}</p>}
      {words.printed.map(({ call, text }) => <BeingPrinted key={call} text={text} />)}
    </div>
  );
}

function BeingPrinted({ text }: { text: string }) {
  const printed = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (printed.current) printed.current.scrollTop = printed.current.scrollHeight;
  }, [text]);
  return <pre ref={printed} tabIndex={0} aria-label="Being printed">{plain(text)}</pre>;
}
