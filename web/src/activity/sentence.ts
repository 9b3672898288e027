// What happened, as a sentence. A record that nobody has words for yet is told by its name, and nothing is left out: what is bookkeeping
// is only quiet.
import type { StoredRecord } from "../api/types";
import { duration, firstLine, plural, short, words } from "../text/format";

export type About = "decisions" | "work" | "agents" | "conversations" | "house";

export interface Sentence {
  /** Ours. */
  says: string;
  /** Somebody else's words, to be shown with nothing hidden. */
  quote?: string;
  tone?: "good" | "warn" | "bad";
  about: About;
  /** Of no interest unless one looks for it. */
  quiet?: boolean;
  /** What the runtime did next: enough to look it up by. */
  leads?: { to: "task" | "execution" | "review" | "stream"; id: string };
}

type Data = Record<string, unknown>;
const text = (data: Data, name: string): string => (typeof data[name] === "string" ? data[name] : "");
const inside = (data: Data, name: string): Data => (typeof data[name] === "object" && data[name] !== null ? (data[name] as Data) : {});
const by = (data: Data): string => (text(data, "by") ? ` by ${text(data, "by")}` : "");

type Teller = (data: Data, id: string) => Omit<Sentence, "about" | "leads"> & Partial<Pick<Sentence, "about" | "leads">>;

const TELLERS: Record<string, Teller> = {
  "task.created": (data) => ({ says: data.part_of ? "A part was taken in" : "A task was taken in", quote: firstLine(text(inside(data, "command"), "goal")), quiet: data.part_of !== undefined && data.part_of !== null }),
  "attempt.started": (data) => ({ says: `Attempt ${String(data.attempt)} began`, quiet: true }),
  "attempt.waiting": () => ({ says: "The work waits for an answer", tone: "warn" }),
  "attempt.woken": () => ({ says: "The work goes on", quiet: true }),
  "attempt.interrupted": () => ({ says: "An attempt was interrupted", tone: "warn" }),
  "attempt.ended": (data) => ({ says: `Attempt ${String(data.attempt)} ended`, quote: firstLine(text(data, "final_message")), quiet: true }),
  "checks.recorded": (data) => {
    const results = (data.results as { name: string; passed: boolean }[] | undefined) ?? [];
    const failed = results.filter(({ passed }) => !passed);
    return failed.length === 0
      ? { says: `${plural(results.length, "check")} passed`, tone: "good" as const }
      : { says: `${failed.length} of ${plural(results.length, "check")} failed`, quote: failed.map(({ name }) => name).join(", "), tone: "bad" as const };
  },
  "task.finished": (data) => {
    const result = inside(data, "result");
    const status = text(result, "status");
    const tone = status === "FAILED" ? "bad" : status === "COMPLETED" ? "good" : undefined;
    return { says: status === "COMPLETED" ? (result.verified ? "A task is done, and verified" : "A task is done") : `A task ended: ${status.toLowerCase()}`, quote: firstLine(text(result, "final_message")), ...(tone ? { tone } : {}) };
  },
  "task.stop": (data) => ({ says: `Somebody asked to stop${by(data)}`, quote: text(data, "reason") }),
  "task.pause": (data) => ({ says: `Somebody asked to pause${by(data)}`, quote: text(data, "reason") }),
  "task.cancel": (data) => ({ says: `Somebody asked to cancel${by(data)}`, quote: text(data, "reason") }),
  "task.inject": (data) => ({ says: "Words for whoever works on it", quote: firstLine(text(data, "content")) }),
  "approval.requested": (data, id) => {
    const card = inside(data, "card");
    return { says: `A card asks, ${text(card, "risk_level")} risk`, quote: firstLine(text(card, "intent")), tone: "warn", leads: { to: "review", id: text(card, "card_id") || id } };
  },
  "approval.decided": (data, id) => ({
    says: text(data, "approval_strength") === "implied" ? "Approved beforehand, by whoever asked for the work" : `${VERDICTS[text(data, "verdict")] ?? "Answered"}${by(data)}`,
    quote: text(data, "note"),
    ...(text(data, "verdict") === "approved" ? { tone: "good" as const } : text(data, "verdict") === "declined" ? { tone: "bad" as const } : {}),
    quiet: text(data, "approval_strength") === "implied",
    leads: { to: "review", id },
  }),
  "approval.issued": () => ({ says: "The yes was signed", quiet: true }),
  "approval.verified": () => ({ says: "The signature was found good, and counted", quiet: true }),
  "approval.verify_failed": (data) => ({ says: "An approval was found worthless", quote: text(data, "reason"), tone: "bad" }),
  "approval.check_failed": (data) => ({ says: "An approval did not hold", quote: text(data, "reason"), tone: "bad" }),
  "approval.expired": () => ({ says: "Nobody answered a card in time", tone: "bad" }),
  "approval.withdrawn": () => ({ says: "A card was taken back" }),
  "question.asked": (data, id) => ({ says: "An agent asks", quote: firstLine(text(inside(data, "asked"), "question")), tone: "warn", leads: { to: "review", id } }),
  "question.answered": (data) => ({ says: `A question was answered${by(data)}`, quote: firstLine(text(data, "answer")) }),
  "question.withdrawn": () => ({ says: "A question was taken back" }),
  "session.opened": (data) => ({ says: "A conversation began", quote: text(data, "workspace") }),
  "user.said": (data) => ({ says: "Somebody said", quote: firstLine(text(data, "words")) }),
  "turn.ended": (data) => {
    const decision = inside(data, "decision");
    return { says: `Windlass answered (${words(text(decision, "route"))})`, quote: firstLine(text(decision, "response")) };
  },
  "session.task_taken": () => ({ says: "The conversation began a task" }),
  "planner.started": (data) => ({ says: data.is_replan ? "A planner writes the plan anew" : "A planner looks around and writes the plan" }),
  "plan.proposed": () => ({ says: "A plan was written" }),
  "plan.asked": () => ({ says: "The plan waits for a yes", quiet: true }),
  "plan.answered": () => ({ says: "The plan was answered" }),
  "atom.started": (data) => ({ says: `Work on \`${text(data, "atom")}\` began` }),
  "atom.ended": (data) => ({ says: `Work on \`${text(data, "atom")}\` ended` }),
  "atom.interrupted": (data) => ({ says: `Work on \`${text(data, "atom")}\` was interrupted`, tone: "warn" }),
  "choice.switched": (data) => ({ says: "Another way was taken", quote: [text(data, "or_group"), text(data, "reason")].filter(Boolean).join(": "), tone: "warn" }),
  "probe.started": () => ({ says: "Somebody looks whether the next way can work" }),
  "graph.corrected": (data) => ({ says: `The work was redirected${by(data)}`, quote: text(data, "description"), tone: "warn" }),
  "graph.applied": () => ({ says: "The work came into the folder", tone: "good" }),
  "consult.asked": () => ({ says: "The planner is asked about something stuck" }),
  "help.asked": () => ({ says: "An attempt asks for help", tone: "warn" }),
  "model.requested": (data) => ({ says: `The model is asked, call ${String(data.iteration)}`, quiet: true }),
  "model.responded": (data) => ({ says: "The model answered", quote: firstLine(text(data, "text")), quiet: true }),
  "model.failed": (data) => ({ says: "The model failed", quote: text(data, "message") || text(data, "reason"), tone: "bad" }),
  "model.switched": () => ({ says: "Another model took over", tone: "warn" }),
  "risk.checked": (data) => ({
    says: `\`${text(data, "tool")}\` was judged: ${text(data, "level")} risk`,
    quote: ((data.reasons as string[] | undefined) ?? []).join("; "),
    quiet: text(data, "ruling") === "continue",
    ...(text(data, "ruling") === "continue" ? {} : { tone: "warn" as const }),
  }),
  "tool.started": (data) => ({ says: `\`${text(data, "tool")}\` began`, quote: text(data, "path"), quiet: true }),
  "tool.finished": (data) => ({
    says: `\`${text(data, "tool")}\` ${text(data, "status") === "ok" ? "did its work" : "failed"} in ${duration(Number(data.duration_ms ?? 0) / 1000)}`,
    quote: firstLine(text(data, "content")),
    ...(text(data, "status") === "ok" ? {} : { tone: "bad" as const }),
  }),
  "owner-effect.recorded": (data) =>
    data.kind === "told"
      ? { says: "An agent told the user", quote: firstLine(text(data, "message")) }
      : { says: "Something was delivered", quote: text(inside(data, "deliverable"), "filepath"), tone: "good" },
  "subagent.spawned": () => ({ says: "An agent was given a part of the work" }),
  "subagent.finished": () => ({ says: "That agent is done", quiet: true }),
  "egress.refused": (data) => ({ says: "A way to the network was refused", quote: text(data, "host"), tone: "bad" }),
  "compaction.finished": () => ({ says: "A long conversation was summed up" }),
  "memory.recorded": (data) => ({ says: "Something was remembered", quote: firstLine(text(data, "text")), quiet: true }),
  "goal.added": () => ({ says: "A goal was added" }),
  "goal.fired": () => ({ says: "A goal was looked at" }),
  "goal.troubled": () => ({ says: "A goal is in trouble", tone: "bad" }),
  "monitor.fired": () => ({ says: "A monitor looked" }),
  "task.time_up": () => ({ says: "The time of a task is up", tone: "bad" }),
  "state.changed": (data) => ({ says: `An agent is ${words(text(data, "to"))}`, quote: text(data, "reason"), quiet: true }),
};

const VERDICTS: Record<string, string> = { approved: "Approved", declined: "Declined", edit_requested: "Sent back", conditional: "Approved, on conditions" };
const ABOUT: Record<string, About> = { approval: "decisions", question: "decisions", task: "work", graph: "work", execution: "agents", session: "conversations", user: "conversations" };

export function sentence({ stream, kind, data }: Pick<StoredRecord, "stream" | "kind" | "data">): Sentence {
  const [stem = "", id = ""] = stream.split("/", 2);
  const about = ABOUT[stem] ?? "house";
  const leads: Sentence["leads"] =
    stem === "task" || stem === "graph" ? { to: "task", id } : stem === "execution" ? { to: "execution", id } : stem === "session" ? { to: "stream", id } : undefined;
  const told = TELLERS[kind]?.(data, id) ?? { says: `${capital(words(stem))}: ${words(kind.split(".").pop() ?? kind)}`, quiet: true };
  const known = { about, ...(leads ? { leads } : {}), ...told };
  return known.quote ? known : (({ quote: _, ...rest }) => rest)(known);
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
export const searched = (record: StoredRecord, { says, quote = "" }: Sentence): string => `${says} ${quote} ${record.kind} ${record.stream} ${short(record.stream)}`.toLowerCase();
