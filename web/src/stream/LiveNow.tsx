// What is being said or printed at this moment, before it is a record.
import { useEffect, useRef } from "react";

import { plain } from "../text/ansi";
import type { LiveWords } from "./story";

export function LiveNow({ words }: { words: LiveWords }) {
  const printed = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (printed.current) printed.current.scrollTop = printed.current.scrollHeight;
  }, [words.printed]);
  return (
    <div className="live">
      {words.reasoning !== "" && words.text === "" && <p className="reasoning">{words.reasoning.slice(-600)}</p>}
      {words.text !== "" && <p>{words.text}</p>}
      {words.note !== "" && <p className="muted">{words.note}</p>}
      {words.printed !== "" && <pre ref={printed} tabIndex={0} aria-label="Being printed">{plain(words.printed)}</pre>}
    </div>
  );
}
