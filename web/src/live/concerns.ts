// Which queries a record concerns. Keys begin with what they are about, so that the beginning of one names all of its kind.
import type { StoredRecord } from "../api/types";

export type Key = readonly string[];

export function concerns({ stream, kind }: Pick<StoredRecord, "stream" | "kind">): Key[] {
  const [about = "", id = ""] = stream.split("/", 2);
  switch (about) {
    case "approval":
      return [["approvals"], ["approval", id], ["tasks"], ["task"]];
    case "question":
      return [["questions"], ["tasks"], ["task"]];
    case "session":
      return [["sessions"], ["session", id]];
    case "task":
      return [["tasks"], ["task"], ...(kind === "task.created" || kind === "task.finished" ? [["sessions"], ["schedules"]] : [])];
    case "graph":
      return [["task"]];
    case "execution":
      return [["execution", id], ["task-executions"], ...(kind === "state.changed" ? [["terminals"]] : [])];
    case "goal":
    case "monitor":
    case "deadline":
      return [["schedules"]];
    case "audit":
      return [["audit"]];
    default:
      return [];
  }
}
