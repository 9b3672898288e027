// Which queries a record concerns, by their keys. A key names all that begin like it, and `*` stands for any id; what a record cannot
// have changed, or only at its end, is left out (`isLeftAlone`).
import type { StoredRecord } from "../api/types";

export type Key = readonly string[];
type Told = Pick<StoredRecord, "stream" | "kind"> & { data?: Record<string, unknown> };
/** The task that a card or a question belongs to, where that is known. */
export type TaskOf = (id: string) => string | null | undefined;
/** The task that one is a part of, or the same; nothing where nobody knows here. */
export type WholeOf = (task: string) => string | undefined;

/** What changes the list of those who work, and what they have used by then. */
const STAGES = ["journal.header", "state.changed", "subagent.spawned", "subagent.finished"];
const NEWS_OF_TASKS = ["task.created", "task.finished"];

export function concerns({ stream, kind, data = {} }: Told, taskOf: TaskOf = () => undefined, wholeOf: WholeOf = () => undefined): Key[] {
  const [about = "", id = ""] = stream.split("/", 2);
  const belongs = typeof data.task_id === "string" ? data.task_id : taskOf(id);
  const whose: Key[] = belongs ? [["task", belongs]] : [];
  switch (about) {
    case "approval":
      return [["approvals"], ["approval", id], ["tasks"], ...whose];
    case "question":
      return [["questions"], ["tasks"], ...whose];
    case "session":
      return [["sessions"], ["session", id]];
    case "task": {
      // Where nobody knows whose part it is, it may be anybody's: the pictures of the whole that are shown are few.
      const whole = wholeOf(id) ?? "*";
      return [
        ["tasks"], ["task", id], ["task", whole, "graph"], ["task", whole, "explanation"],
        ...(kind === "task.finished" ? [["task", id, "deliverables"]] : []),
        ...(NEWS_OF_TASKS.includes(kind) ? [["sessions"], ["session"], ["schedules"]] : []),
      ];
    }
    case "graph":
      return [["task", id], ...(kind === "plan.proposed" ? [["task", id, "document"]] : []), ["task", id, "deliverables"]];
    case "execution":
      return [
        ["execution", id],
        ...(STAGES.includes(kind) ? [["task-executions"]] : []),
        ...(kind === "tool.started" ? [["task", "*", "begun-last"]] : []),
        ...(kind === "state.changed" ? [["terminals"]] : []),
        ...(kind === "owner-effect.recorded" ? [["task", "*", "deliverables"]] : []),
      ];
    case "goal":
    case "monitor":
    case "deadline":
      return [["schedules"]];
    default:
      return [];
  }
}

/** Named by a record in full, or not asked anew for it: they stay as they are, or somebody reads or writes in them. */
const ALONE = ["deliverables", "document", "recording"];

export function concerned(key: Key, query: readonly unknown[]): boolean {
  if (!key.every((part, index) => part === "*" || part === query[index])) return false;
  return key.length >= query.length || !ALONE.includes(String(query[2]));
}

/** What stays as it is whatever happened while nobody listened, or is asked for by hand. */
export const isLasting = (query: readonly unknown[]): boolean => ["blob", "whoami", "audit-verification"].includes(String(query[0])) || ["document", "recording"].includes(String(query[2]));

/** Pages that grow at their end, and whose earlier ones never change. */
export const growsAtItsEnd = (query: readonly unknown[]): boolean => query[0] === "execution" && (query[2] === "timeline" || query[2] === "journal");

/** Of a new task, the whole that it is a part of. */
export function wholeIn({ stream, kind, data = {} }: Told): [task: string, whole: string] | undefined {
  const [about, id] = stream.split("/", 2);
  if (about !== "task" || id === undefined || kind !== "task.created") return undefined;
  const { root } = (data.part_of ?? {}) as { root?: unknown };
  return [id, typeof root === "string" ? root : id];
}

/** So many milliseconds rests what has this much in it, before it is asked anew: a graph of five thousand parts is megabytes, and is laid out each time. */
export function rest(answer: unknown): number {
  if (typeof answer !== "object" || answer === null) return 0;
  return Object.values(answer).reduce<number>((sum, part) => sum + (Array.isArray(part) ? part.length : 0), 0);
}
