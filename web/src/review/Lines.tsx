// Words that will run, to the last character, each line behind a bar.
import { Visible } from "../text/Visible";

export function Lines({ text, label = "What would run" }: { text: string; label?: string }) {
  return (
    <ol className="command" tabIndex={0} aria-label={label}>
      {text.split("\n").map((line, index) => (
        <li key={index}>{line === "" ? "\u00a0" : <Visible text={line} />}</li>
      ))}
    </ol>
  );
}
