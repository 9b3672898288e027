// Every place of the console, with something in it.
import type { Served } from "./served";

interface Waiting {
  approvals: { task_id: string; card: { card_id: string } }[];
  questions: { task_id: string; request_id: string }[];
}

/** The names of all of them; nobody is signed in at the last. */
export const NAMES = [
  "review-plan", "review-call", "review-question", "stream", "activity", "tasks", "task-plan", "task-report", "execution", "execution-journal",
  "terminals", "agents", "patterns", "skills", "gates", "schedules", "dead-letters", "settings", "nothing", "sign-in",
] as const;
export type Name = (typeof NAMES)[number];

/** Has all of them come about, and says where they are. */
export async function places(served: Served): Promise<Record<Name, string>> {
  const session = (await served.ask<{ session_id: string }>("POST", "/v1/sessions", {})).session_id;
  await served.ask("POST", `/v1/sessions/${session}/messages`, { message: "what can you do?" });
  await served.ask("POST", `/v1/sessions/${session}/messages`, { message: "make a shop" });
  const report = await served.begun("Write a report", { base_case: ["file: output/report.md"] });
  const lot = await served.begun("Print a lot");
  const rm = await served.begun("Remove the old export");
  const asks = await served.begun("Ask me what you need");
  const over = ({ result }: { result: unknown }) => (result ? true : undefined);
  await served.at_last(`/v1/tasks/${report}`, over);
  await served.at_last(`/v1/tasks/${lot}`, over);
  const call = await served.at_last("/v1/approvals", ({ approvals }: Waiting) => approvals.find(({ task_id }) => task_id === rm)?.card.card_id);
  const plan = await served.at_last("/v1/approvals", ({ approvals }: Waiting) => approvals.find(({ task_id }) => ![rm, asks].includes(task_id)));
  const question = await served.at_last("/v1/questions", ({ questions }: Waiting) => questions.find(({ task_id }) => task_id === asks)?.request_id);
  const run = async (task: string) => (await served.ask<{ executions: { execution_id: string }[] }>("GET", `/v1/tasks/${task}/executions`)).executions[0]?.execution_id ?? "";
  return {
    "review-plan": `/review/${plan.card.card_id}`,
    "review-call": `/review/${call}`,
    "review-question": `/review/${question}`,
    stream: `/stream/${session}`,
    activity: "/activity?all=true",
    tasks: "/tasks",
    "task-plan": `/tasks/${plan.task_id}`,
    "task-report": `/tasks/${report}`,
    execution: `/executions/${await run(report)}`,
    "execution-journal": `/executions/${await run(lot)}?view=journal`,
    terminals: "/terminals",
    agents: "/agents",
    patterns: "/patterns",
    skills: "/skills",
    gates: "/gates",
    schedules: "/schedules",
    "dead-letters": "/dead-letters",
    settings: "/settings",
    nothing: "/nothing/like/this",
    "sign-in": "/review",
  };
}
