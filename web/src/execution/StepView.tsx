// One step of a turn: what the agent said or called is its own; what it heard, what was started for it and what was noticed is not.
import type { TurnStep } from "../api/types";
import { Markdown } from "../text/Markdown";
import { Visible } from "../text/Visible";
import { CallStep } from "./CallStep";
import { Heard } from "./Heard";

export function StepView({ step }: { step: TurnStep }) {
  switch (step.step) {
    case "said":
      return <div className="step said"><Markdown text={step.text ?? ""} /></div>;
    case "called":
      return <CallStep step={step} />;
    case "heard":
      return <Heard kind={step.kind ?? "reply"} text={step.text ?? ""} />;
    case "started":
      return <p className="step noted muted small"><Visible text={`${step.program ?? "A program"} ${step.version ?? ""}`.trim()} /> was started.</p>;
    default:
      return <p className="step noted muted small">Noticed: <Visible text={step.text ?? JSON.stringify(step)} /></p>;
  }
}
