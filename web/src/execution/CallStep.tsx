// A call of a tool: with what, how it was judged, what came of it.
import { useState } from "react";

import type { TurnStep } from "../api/types";
import { Badge } from "../parts/Badge";
import { Diff } from "../text/Diff";
import { difference } from "../text/difference";
import { duration } from "../text/format";
import { Printed } from "../text/Printed";
import { Visible } from "../text/Visible";

export function CallStep({ step }: { step: TurnStep }) {
  const [isOpen, setOpen] = useState(false);
  const given = (step.arguments ?? {}) as Record<string, unknown>;
  const text = (name: string): string | undefined => (typeof given[name] === "string" ? given[name] : undefined);
  const brief = text("command") ?? text("path") ?? text("filepath") ?? text("pattern") ?? text("query") ?? text("url") ?? JSON.stringify(given);
  const [path, content, from, to] = [text("path"), text("content"), text("old_string"), text("new_string")];
  const isOk = step.status === undefined || step.status === "ok";
  return (
    <details className={isOk ? "step" : "step error"} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{step.tool}</strong>
        <span className="args"><Visible text={brief.slice(0, 200)} /></span>
        {!isOk && <Badge tone="bad">{String(step.status)}</Badge>}
        {step.risk === "high" && <Badge tone="warn">high risk</Badge>}
        <span className="muted small number">{step.duration_ms !== undefined && duration(step.duration_ms / 1000)}</span>
      </summary>
      {isOpen && (
        <div className="inside">
          {path !== undefined && content !== undefined ? <Diff name={path} lines={difference("", content)} /> : path !== undefined && from !== undefined && to !== undefined ? <Diff name={path} lines={difference(from, to)} /> : <Printed text={text("command") ?? JSON.stringify(given, null, 2)} />}
          {step.result !== undefined && <Printed text={step.result} />}
          {step.ruling !== undefined && step.ruling !== "continue" && <p className="muted small">ruled: {step.ruling.replace(/_/g, " ")}</p>}
        </div>
      )}
    </details>
  );
}
