// What a call would do: the command as it would run, or the file as it would change; then where, with what around it, and on which files,
// since a yes binds all of that.
import type { Card } from "../api/types";
import { difference } from "../text/difference";
import { Diff } from "../text/Diff";
import { Visible } from "../text/Visible";
import { FileChange } from "./FileChange";
import { Lines } from "./Lines";

export interface CallCard {
  tool: string;
  arguments: Record<string, unknown> | null;
  argv: string[] | null;
  cwd: string | null;
  workspace?: string;
  sandbox?: string;
  files?: Record<string, string | null>;
  before?: string | null;
  taint?: string;
  reasons?: string[];
}

export const isCall = (card: Card): boolean => typeof card.details.tool === "string";

export function CallDetails({ card }: { card: Card }) {
  const call = card.details as unknown as CallCard;
  const { tool, argv, reasons = [], taint } = call;
  const given = call.arguments ?? {};
  const text = (name: string): string | undefined => (typeof given[name] === "string" ? given[name] : undefined);
  const at = text("path") === undefined ? "file_path" : "path";
  const [path, change, from, to] = [text(at), text("content"), text("old_string"), text("new_string")];
  const isRun = argv !== null && argv !== undefined;
  const isEdit = !isRun && path !== undefined && from !== undefined && to !== undefined;
  const isWrite = !isRun && !isEdit && path !== undefined && change !== undefined;
  // What is shown as what would run, or as a change, is not said twice; anything else that is given is said.
  const shown = isEdit ? [at, "old_string", "new_string"] : isWrite ? [at, "content"] : [];
  const others = Object.entries(given).filter(([name, value]) => !shown.includes(name) && !(isRun && argv.includes(value as string)));
  return (
    <>
      {reasons.length > 0 && <p className="muted">It is asked because {reasons.map((reason, index) => <span key={index}>{index > 0 && "; "}<Visible text={reason} /></span>)}.</p>}
      {taint === "external" && <p className="warned">The agent has read content from outside, which may have asked for this.</p>}
      {isRun ? <Program argv={argv} /> : isEdit ? <Diff name={path} lines={difference(from, to)} /> : isWrite ? <FileChange call={call} path={path} after={change} /> : <section><h3>Calls <code><Visible text={tool} /></code></h3></section>}
      {others.length > 0 && (
        <section>
          <h3>{isRun || isEdit || isWrite ? <>And <code><Visible text={tool} /></code> is given</> : "With"}</h3>
          {others.map(([name, value]) => (
            <div key={name} className="given">
              <code><Visible text={name} /></code>
              <Lines label={name} text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} />
            </div>
          ))}
        </section>
      )}
      <Surroundings call={call} />
    </>
  );
}

/** Code that is handed to an interpreter, or the arguments one by one: a line break in one of them does not make two. */
function Program({ argv }: { argv: string[] }) {
  const isCode = argv[1] === "-c" && argv[2] !== undefined;
  const rest = isCode ? argv.slice(3) : argv;
  return (
    <section>
      <h3>Runs{isCode && <> <code><Visible text={argv.slice(0, 2).join(" ")} /></code></>}</h3>
      {isCode && <Lines text={argv[2] ?? ""} />}
      {rest.length > 0 && (
        <ol className="argv" start={isCode ? 3 : 0} tabIndex={0} aria-label={isCode ? "What it is given" : "Its arguments, one by one"}>
          {rest.map((word, index) => <li key={index}>{word === "" ? <span className="muted">nothing</span> : <Visible text={word} />}</li>)}
        </ol>
      )}
    </section>
  );
}

/** The workspace as a whole, where nobody can tell beforehand which of its files are meant. */
const WHOLE = ".";

function Surroundings({ call: { workspace, cwd, sandbox, files = {} } }: { call: CallCard }) {
  const folder = [workspace, cwd].filter(Boolean).join("/");
  return (
    <section>
      <h3>Where, and on what</h3>
      <dl className="facts">
        {folder !== "" && <><dt>In</dt><dd className="mono"><Visible text={folder} /></dd></>}
        {sandbox !== undefined && <><dt>Sandbox</dt><dd><Visible text={sandbox} /></dd></>}
        {Object.entries(files).map(([path, digest]) => (
          <div key={path} className="fact">
            <dt>{path === WHOLE ? "Files" : "File"}</dt>
            <dd><span className="mono">{path === WHOLE ? "the whole workspace" : <Visible text={path} />}</span> <span className="muted">{digest === null ? "which is not there now" : `as it is now (${digest.slice(0, 12)})`}</span></dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
