// What is being said or printed at this moment, before it is a record; and by whom, where several may be at work.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { worker } from "../api/queries";
import { plain } from "../text/ansi";
import { short } from "../text/format";
import { Visible } from "../text/Visible";
import type { LiveWords } from "./live";

export function LiveWork({ words }: { words: LiveWords }) {
  const { data: run } = useQuery(worker(words.execution));
  return (
    <section>
      <h3 className="live-head">
        {run?.atom && <code><Visible text={run.atom} /></code>} <Link to="/executions/$execution" params={{ execution: words.execution }}><Visible text={run?.agent_id ?? "agent"} /> {short(words.execution)}</Link>
      </h3>
      <LiveNow words={words} />
    </section>
  );
}

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
