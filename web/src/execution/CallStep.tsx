// A call of a tool: with what, how it was judged, what came of it.
import { useState } from "react";

import type { TurnStep } from "../api/types";
import { Badge } from "../parts/Badge";
import { Diff } from "../text/Diff";
import { difference } from "../text/difference";
import { duration, plural } from "../text/format";
import { Printed } from "../text/Printed";
import { Visible } from "../text/Visible";
import { CallPicture } from "./CallPicture";
import { WholeOutput } from "./WholeOutput";

export function CallStep({ step }: { step: TurnStep }) {
  const [isOpen, setOpen] = useState(false);
  const given = (step.arguments ?? {}) as Record<string, unknown>;
  const text = (name: string): string | undefined => (typeof given[name] === "string" ? given[name] : undefined);
  const brief = text("command") ?? text("path") ?? text("filepath") ?? text("pattern") ?? text("query") ?? text("url") ?? JSON.stringify(given);
  const [path, content, from, to] = [text("path"), text("content"), text("old_string"), text("new_string")];
  // One that has not ended is at work, or waits for a yes.
  const isOk = step.status === undefined || step.status === "ok";
  const stands = step.status === undefined ? (step.approval === "asked" ? "waits for a yes" : "at work") : undefined;
  return (
    <details className={isOk ? "step" : "step error"} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong><Visible text={step.tool ?? ""} /></strong>
        <span className="args"><Visible text={brief.slice(0, 200)} /></span>
        {!isOk && <Badge tone="bad">{String(step.status)}</Badge>}
        {stands !== undefined && <Badge tone="accent">{stands}</Badge>}
        {step.approval === "given" && <Badge>approved</Badge>}
        {step.risk === "high" && <Badge tone="warn">high risk</Badge>}
        {step.images !== undefined && <Badge>{plural(step.images.length, "picture")}</Badge>}
        <span className="muted small number">{step.status !== undefined && step.duration_ms !== undefined && duration(step.duration_ms / 1000)}</span>
      </summary>
      {isOpen && (
        <div className="inside">
          {path !== undefined && content !== undefined ? <Diff name={path} lines={difference("", content)} /> : path !== undefined && from !== undefined && to !== undefined ? <Diff name={path} lines={difference(from, to)} /> : <Printed text={text("command") ?? JSON.stringify(given, null, 2)} />}
          {step.result !== undefined && step.result !== "" && <Printed text={step.result} />}
          {step.full_output !== undefined && <WholeOutput digest={step.full_output} />}
          {step.images?.map((picture) => <CallPicture key={picture.digest} picture={picture} />)}
          {step.ruling !== undefined && step.ruling !== "continue" && <p className="muted small">ruled: <Visible text={step.ruling.replace(/_/g, " ")} /></p>}
        </div>
      )}
    </details>
  );
}
