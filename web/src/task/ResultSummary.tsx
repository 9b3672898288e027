// What a task came to: its checks, and what it used.
import type { TaskResult } from "../api/types";
import { duration, plural } from "../text/format";
import { Visible } from "../text/Visible";
import { cost } from "./cost";

export function ResultSummary({ result }: { result: TaskResult }) {
  const { usage, checks = [], error_details: error } = result;
  return (
    <div className="stack">
      {error?.message && <p className="refused"><Visible text={error.message} />{error.hint && <>. <Visible text={error.hint} /></>}</p>}
      {checks.length > 0 && (
        <ul className="checks">
          {checks.map((check) => (
            <li key={check.name} className={check.passed ? "passed" : "failed"}>
              <code><Visible text={check.name} /></code> <span className="muted"><Visible text={check.reason} /></span>
            </li>
          ))}
        </ul>
      )}
      {usage !== undefined && (
        <p className="muted small number">
          {plural(usage.iterations, "model call")} · {plural(usage.tool_calls, "tool call")} · {usage.total_tokens.toLocaleString("en")} tokens · {cost(result.cost_usd)} · {duration(usage.duration_ms / 1000)}
        </p>
      )}
    </div>
  );
}
