// What a call would do: the command as it would run, or the file as it would change.
import type { Card } from "../api/types";
import { difference } from "../text/difference";
import { Diff } from "../text/Diff";
import { Visible } from "../text/Visible";
import { Lines } from "./Lines";

interface CallCard {
  tool: string;
  arguments: Record<string, unknown> | null;
  argv: string[] | null;
  cwd: string | null;
  reasons?: string[];
}

export const isCall = (card: Card): boolean => typeof card.details.tool === "string";

export function CallDetails({ card }: { card: Card }) {
  const { tool, arguments: given, argv, reasons = [] } = card.details as unknown as CallCard;
  const text = (name: string): string | undefined => (typeof given?.[name] === "string" ? given[name] : undefined);
  const path = text("path") ?? text("file_path");
  const change = text("content") ?? undefined;
  const [from, to] = [text("old_string"), text("new_string")];
  return (
    <>
      {reasons.length > 0 && <p className="muted">It is asked because {reasons.map((reason, index) => <span key={index}>{index > 0 && "; "}<Visible text={reason} /></span>)}.</p>}
      {argv !== null && argv !== undefined ? (
        <section>
          <h3>Runs <code>{argv[1] === "-c" ? argv.slice(0, 2).join(" ") : tool}</code></h3>
          <Lines text={argv[1] === "-c" ? argv.slice(2).join(" ") : argv.join("\n")} />
        </section>
      ) : path !== undefined && from !== undefined && to !== undefined ? (
        <Diff name={path} lines={difference(from, to)} />
      ) : path !== undefined && change !== undefined ? (
        <Diff name={`${path} (all of it)`} lines={difference("", change)} />
      ) : (
        <section>
          <h3>Calls <code>{tool}</code></h3>
          <Lines text={JSON.stringify(given, null, 2)} />
        </section>
      )}
    </>
  );
}
