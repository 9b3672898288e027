// Words for the agent: never to be taken for its own.
import { Markdown } from "../text/Markdown";
import { Visible } from "../text/Visible";

const SAYS: Record<string, string> = {
  prompt: "It is told",
  reply: "Somebody said",
  resume: "It is told to go on",
  checkpoint: "It is asked how far it is",
  nudge: "It is reminded",
  interrupt: "Somebody interrupts it",
  stop: "It is told to stop",
};
/** What is longer is opened by whoever wants to read it. */
const SHORT = 1_200;

export function Heard({ kind, text }: { kind: string; text: string }) {
  return (
    <details className="step asked" open={text.length < SHORT}>
      <summary><strong>{SAYS[kind] ?? <Visible text={kind.replace(/_/g, " ")} />}</strong></summary>
      <div className="inside"><Markdown text={text} /></div>
    </details>
  );
}
