// Shapes that the document has as plain JSON: cards, graphs, explanations, turns. They are read with care, since another version of
// the server may have more or less in them.
import type { Schemas } from "./client";

export type RiskLevel = "low" | "medium" | "high" | "irreversible";

export interface WorstCase {
  attempts: number;
  tokens: number;
  cost_usd: number;
  wall_time_seconds: number;
}

export interface Card {
  card_id: string;
  intent: string;
  risk_level: RiskLevel;
  rationale: string;
  consequence_label: string;
  affected_items: string[];
  details: Record<string, unknown>;
  worst_case?: WorstCase | null;
  expires_at: number;
  binds: { scope: string; max_executions: number; plan_hash?: string; binding_hash?: string; spawn_policy_hash?: string };
}

export interface PlanItem {
  id: string;
  type: string;
  title: string;
  within: string | null;
  depends_on: string[];
  any_of: string | null;
  agent: string;
  skills: string[];
  budget: { max_attempts: number; max_tokens: number; max_cost_usd: number; max_wall_time_seconds: number };
  verify: string[];
  touches: { paths: string[]; services: string[] };
  what_to_do: string;
  pattern: string;
  speculative: boolean;
  probe: boolean;
  told: string | null;
}

export interface UserQuestion {
  question: string;
  options?: string[];
  context?: string;
}

/** The task that somebody asked for, and the item of its plan that asks. */
export type Whose = Schemas["Whose"];

/** One thing that somebody has to decide. */
export type Waiting =
  | { kind: "card"; id: string; task: string | null; whose: Whose | null; askedAt: string | null; standing: string; card: Card }
  | { kind: "question"; id: string; task: string; whose: Whose | null; askedAt: string; asked: UserQuestion };

export interface StoredRecord {
  position: number;
  at: string;
  stream: string;
  kind: string;
  version: number;
  data: Record<string, unknown>;
  /** Where the server says that people see it. */
  surfaces?: Surface[];
}

export type Surface = Schemas["SurfaceWord"];

/** A piece of what is being said or printed; or that some were missed, nobody knows whose. */
export type Delta = SaidDelta | { kind: "missed"; pieces: number };

export interface SaidDelta {
  execution_id: string;
  task_id: string;
  /** The task that `task_id` is a part of, or the same. */
  whole: string;
  kind: "text" | "reasoning" | "tool_output" | "retrying";
  text?: string;
  call_id?: string;
  reason?: string;
  delay_ms?: number;
}

export interface GraphAtom {
  type: "atom";
  id: string;
  title: string;
  within?: string;
  or_group?: string;
  after: string[];
  waits_for: string[];
  is_leaf: boolean;
  standing: string;
  note: string | null;
  attempts: { used: number; of: number } | null;
}

export interface GraphGroup {
  type: "group";
  id: string;
  within?: string;
  choices: string[];
  selected: string | null;
  is_done: boolean;
  speculative: boolean;
}

export interface WorkGraph {
  task_id: string;
  title: string;
  done: number;
  items: number;
  standing: string;
  revision: number;
  parts: (GraphAtom | GraphGroup)[];
}

export interface Explanation {
  busy: { atom?: string; because?: string; task_id?: string }[];
  failed: { atom: string; attempts: number; message: string; task_id: string }[];
  given_up: { choice: string; or_group: string; reason: string; timestamp: string }[];
  trail: { or_group: string; selected: string; reason: string; timestamp: string }[];
  next: unknown[];
  waits: string | null;
  promised: WorstCase | null;
  /** A model without a price has used nobody knows how much money. */
  used: (Omit<WorstCase, "cost_usd"> & { cost_usd: number | null }) | null;
}

export interface Turn {
  turn: number;
  asked: { kind: string; text: string }[];
  began_at: string;
  last_at: string;
  cost: number;
  /** It cost more than is counted: an answer's price is not known. */
  unpriced?: boolean;
  model_calls: number;
  usage: { input: number; output: number };
  /** Its first steps are in the item before. */
  continues?: boolean;
  end: { how: string; reason?: string } | null;
  steps: TurnStep[];
}

export interface Picture {
  name: string;
  media_type: string;
  width: number;
  height: number;
  digest: string;
}

export type TurnStep = { step: string; text?: string; kind?: string; program?: string; version?: string; tool?: string; arguments?: unknown; call_id?: string; result?: string; full_output?: string; images?: Picture[]; status?: string; duration_ms?: number; risk?: string; ruling?: string; [more: string]: unknown };

export interface TaskResult {
  status: string;
  final_message?: string;
  cost_usd?: number | null;
  verified?: boolean;
  checks?: { name: string; passed: boolean; reason: string; output: string }[];
  deliverables?: { filepath: string; description: string; type: string; size_bytes?: number }[];
  usage?: { total_tokens: number; duration_ms: number; iterations: number; tool_calls: number };
  error_details?: { error_code?: string; message?: string; hint?: string } | null;
}

export type Task = Schemas["Task"];
export type Session = Schemas["Session"];
export type Execution = Schemas["Execution"];
