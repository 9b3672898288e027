// What somebody filled in, as the server takes it: what was left out is as the operator has it.
import type { Schemas } from "../api/client";
import { asSent, type Attached } from "../stream/attachments";
import { lines } from "./wanted";

export const NOTHING = {
  goal: "", checks: "", constraints: "", workspace: "", agent: "", model: "", deadline: "", deadline_action: "fail",
  max_tokens: "", max_cost_usd: "", max_attempts: "", max_iterations: "", timeout_seconds: "",
  planning: "none" as "none" | "wanted" | "aligning",
};
export type Asked = typeof NOTHING;

const LIMITS = ["max_tokens", "max_cost_usd", "max_attempts", "max_iterations", "timeout_seconds"] as const;
const WORDS = ["workspace", "agent", "model", "deadline"] as const;

export function asked(said: Asked, files: Attached[]): Partial<Schemas["TaskRequest"]> {
  const limits = LIMITS.flatMap((name) => (said[name] === "" ? [] : [[name, Number(said[name])] as const]));
  const words = WORDS.flatMap((name) => (said[name].trim() === "" ? [] : [[name, said[name].trim()] as const]));
  return {
    goal: said.goal,
    base_case: lines(said.checks),
    planning: said.planning,
    ...(said.constraints.trim() === "" ? {} : { constraints: lines(said.constraints) }),
    ...Object.fromEntries(words),
    ...(said.deadline.trim() === "" ? {} : { deadline_action: said.deadline_action as "fail" }),
    ...(limits.length === 0 ? {} : { limits: Object.fromEntries(limits) as Schemas["LimitsRequest"] }),
    ...(files.length === 0 ? {} : { attachments: asSent(files) }),
  };
}
