import { Dialog } from "../parts/Dialog";
import { PLACES } from "./places";
import "./KeyboardHelp.css";

const GROUPS: [string, [string, string][]][] = [
  ["Everywhere", [["Ctrl K", "go to or do something"], ["/", "the same"], ["?", "these keys"], ["Esc", "close what is open"]]],
  ["Review", [["a", "approve"], ["n", "approve, and say something"], ["d", "decline, with a reason"], ["e", "ask for something else"], ["y", "the second step, where one is asked for"], ["x", "all details"], ["m", "a plan read as Markdown, or as it is written"], ["j k", "next, previous"], ["1–9", "choose an option of a question"]]],
  ["Stream", [["Enter", "say it"], ["Shift Enter", "a new line"]]],
  ["Terminals", [["Ctrl ]", "leave the terminal, for the keys of the page"]]],
];

export function KeyboardHelp({ onClose }: { onClose(): void }) {
  const groups: [string, [string, string][]][] = [...GROUPS, ["Go to", PLACES.map(({ key, name }): [string, string] => [`g ${key}`, name])]];
  return (
    <Dialog label="Keys" onClose={onClose} className="keys">
      <div className="spread">
        <h2>Keys</h2>
        <button type="button" className="quiet" onClick={onClose}>Close</button>
      </div>
      <div className="groups">
        {groups.map(([name, keys]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map(([key, what]) => (
                <div key={key}>
                  <dt><kbd>{key}</kbd></dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
