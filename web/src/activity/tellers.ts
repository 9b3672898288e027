// The words for each kind of record. A kind that is missing fails a test, since the server's document names all of them.
import { duration, firstLine, plural, words } from "../text/format";
import type { Sentence } from "./sentence";

type Data = Record<string, unknown>;
const text = (data: Data, name: string): string => (typeof data[name] === "string" ? data[name] : "");
const inside = (data: Data, name: string): Data => (typeof data[name] === "object" && data[name] !== null ? (data[name] as Data) : {});
const by = (data: Data): string => (text(data, "by") ? ` by ${text(data, "by")}` : "");

/** What a record says, by its data and the id of its stream. */
export type Teller = (data: Data, id: string) => Omit<Sentence, "about" | "leads"> & Partial<Pick<Sentence, "about" | "leads">>;

export const VERDICTS: Record<string, string> = { approved: "Approved", declined: "Declined", edit_requested: "Sent back", conditional: "Approved, on conditions" };
/** How a task stands that something is wrong with. */
const WRONG = ["failed", "stuck", "blocked", "verification_failed"];

export const TELLERS: Record<string, Teller> = {
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
    const [decision, done] = [inside(data, "decision"), inside(data, "done")];
    if (done.kind === "not") return { says: "Windlass answered that nothing comes of it", quote: firstLine(text(done, "why")), tone: "warn" };
    return { says: `Windlass answered (${words(text(decision, "route"))})`, quote: firstLine(text(decision, "response")) };
  },
  "turn.started": () => ({ says: "Windlass thinks about what was said", quiet: true }),
  "status.told": (data) => ({
    says: `${text(data, "item") ? `\`${text(data, "item")}\` of a task` : "A task"} of the conversation: ${words(text(data, "status"))}`,
    quote: firstLine(text(data, "detail")),
    leads: { to: "task", id: text(data, "task") },
    ...(WRONG.includes(text(data, "status")) ? { tone: "warn" as const } : { quiet: true }),
  }),
  "session.triggered": (data) => ({ says: `Something reached the conversation${by(data)}`, quote: words(text(data, "trigger_type")), quiet: true }),
  "session.task_let_in": () => ({ says: "There is room for a task that waited" }),
  "session.task_over": () => ({ says: "A task of the conversation is over", quiet: true }),
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
  "task.changed": (data) => ({ says: `A task is ${words(text(data, "status") || "not as it was").toLowerCase()}`, quote: text(data, "reason") }),
  "context.gathered": () => ({ says: "What belongs to the work was gathered", quiet: true }),
  "candidate.outdated": () => ({ says: "What was done no longer fits the folder, which was changed meanwhile", tone: "warn" }),
  "consult.started": (data) => ({ says: `The planner thinks about \`${text(data, "atom")}\`` }),
  "consult.answered": () => ({ says: "The planner said what to do about it" }),
  "help.answered": () => ({ says: "The call for help was answered" }),
  "research.asked": () => ({ says: "Something is to be found out" }),
  "research.answered": () => ({ says: "It was found out" }),
  "research.timed_out": () => ({ says: "It was not found out in time", tone: "warn" }),
  "research.expired": () => ({ says: "Nobody waits any more for what was to be found out", quiet: true }),
  "deadline.set": (data) => ({ says: "The task was given a time by which it is over", quote: text(data, "deadline") }),
  "objective.aligned": () => ({ says: "What is wanted was agreed on" }),
  "probe.ended": (data) => ({ says: `It was looked at whether \`${text(data, "atom")}\` can work` }),
  "split.started": (data) => ({ says: `\`${text(data, "atom")}\` is to be split into smaller parts` }),
  "split.ended": (data) => ({ says: `\`${text(data, "atom")}\` ${Array.isArray(data.children) ? "was split into smaller parts" : "has no smaller parts"}`, quote: text(data, "reason") }),
  "sinks.reopened": (data) => ({ says: "What was done is to be done again", quote: text(data, "because"), tone: "warn" }),
  "change.sought": () => ({ says: "A planner looks for the change that was asked for" }),
  "graph.rebased": () => ({ says: "The work goes on from the folder as it is now" }),
  "atom.observed": (data) => ({ says: `\`${text(data, "atom")}\` changes files`, quote: ((data.paths as string[] | undefined) ?? []).join(", "), quiet: true }),
  "join.checked": (data) => {
    const failed = ((data.results as { name: string; passed: boolean }[] | undefined) ?? []).filter(({ passed }) => !passed);
    return failed.length === 0
      ? { says: `The parts of \`${text(data, "atom")}\` fit together` }
      : { says: `The parts of \`${text(data, "atom")}\` do not fit together`, quote: failed.map(({ name }) => name).join(", "), tone: "bad" as const };
  },
  "review.asked": (data) => ({ says: "The work cannot go on as planned; a person is asked", quote: text(data, "why"), tone: "warn" }),
  "review.answered": (data) => ({ says: data.granted === true ? "One more plan may be written" : "No other plan is wanted", quote: text(data, "note") }),
  "graph.bringing": () => ({ says: "The work is being brought into the folder", quiet: true }),
  "planner.charged": () => ({ says: "What the planner used was counted", quiet: true }),
  "helpers.dismissed": () => ({ says: "Whoever looked ahead is not needed any more", quiet: true }),
  "graph.stopping": () => ({ says: "The work is being stopped" }),
  "graph.parked": () => ({ says: "The work waits, and nobody is at it", quiet: true }),
  "graph.woken": () => ({ says: "The work goes on", quiet: true }),
  "journal.header": () => ({ says: "An agent was taken on" }),
  "message.accepted": () => ({ says: "An agent was told something", quiet: true }),
  "decision.recorded": () => ({ says: "What becomes of a call was decided", quiet: true }),
  "injection.received": (data) => ({ says: "An agent heard words from outside", quote: firstLine(text(data, "content")) }),
  "compaction.started": () => ({ says: "A long conversation is being summed up", quiet: true }),
  "compaction.cleared": () => ({ says: "Old outputs were left out of a long conversation", quiet: true }),
  "compaction.flushing": () => ({ says: "An agent writes down what it must not forget", quiet: true }),
  "compaction.flushed": () => ({ says: "An agent wrote down what it must not forget", quiet: true }),
  "compaction.skipped": () => ({ says: "A long conversation was not summed up", quiet: true }),
  "compaction.failed": () => ({ says: "A long conversation could not be summed up", tone: "warn" }),
  "doom_loop.detected": (data) => ({ says: "An agent goes round in circles", quote: firstLine(text(data, "message")), tone: "warn" }),
  "pattern.stepped": () => ({ says: "The next step of the pattern began", quiet: true }),
  "pattern.nudged": () => ({ says: "An agent was reminded of the step that it is at", quiet: true }),
  "runner.noted": (data) => ({ says: "Another maker's agent works", quote: [text(data, "program"), text(data, "version")].filter(Boolean).join(" ") }),
  "observation.recorded": () => ({ says: "Something was seen of another maker's agent", quiet: true }),
  "call.proposed": () => ({ says: "Another maker's agent wants to call a tool", quiet: true }),
  "exchange.opened": () => ({ says: "Another maker's agent asks its model", quiet: true }),
  "exchange.closed": () => ({ says: "That model answered", quiet: true }),
  "message.delivery": () => ({ says: "What an agent was told has reached it, or has not", quiet: true }),
  "execution.forked": () => ({ says: "An agent goes on from a turn of another" }),
  "approval.attached": () => ({ says: "An approval was given to whoever needs it", quiet: true }),
  "approval.checked": () => ({ says: "An approval holds", quiet: true }),
  "approval.executed": () => ({ says: "What was approved was done", quiet: true }),
  "goal.checked": (data) => {
    const failed = ((data.results as { name: string; passed: boolean }[] | undefined) ?? []).filter(({ passed }) => !passed);
    return failed.length === 0 ? { says: "A goal holds", quiet: true } : { says: "A goal does not hold", quote: failed.map(({ name }) => name).join(", "), tone: "warn" as const };
  },
  "goal.skipped": () => ({ says: "A goal was not looked at, since it is still being mended", quiet: true }),
  "goal.paused": () => ({ says: "A goal was paused" }),
  "goal.resumed": () => ({ says: "A goal was resumed" }),
  "goal.removed": () => ({ says: "A goal was removed" }),
  "monitor.set": () => ({ says: "A task is to be looked at from time to time" }),
  "monitor.ended": (data) => ({ says: "A task is not looked at any more", quote: words(text(data, "why")) }),
  "memory.forgotten": (data) => ({ says: "Something was forgotten", quote: text(data, "user") }),
  "ground.labelled": (data) => ({ says: "A folder has something of others in it", quote: text(data, "folder"), quiet: true }),
  "ground.settled": (data) => ({ says: "What is in a folder was taken stock of", quote: text(data, "folder"), quiet: true }),
  "ground.cleared": (data) => ({ says: "Somebody looked at a folder, and what is in it is theirs", quote: text(data, "folder") }),
  "outbox.opened": () => ({ says: "What happens is told to others from now on", quiet: true }),
  "outbox.moved": () => ({ says: "What happened was told to others", quiet: true }),
  "user.session_began": () => ({ says: "Somebody has one more conversation under way", quiet: true }),
  "user.session_rested": () => ({ says: "Somebody has one conversation less under way", quiet: true }),
  // The audit's own, which the domain does not name.
  "audit.enqueue": (data) => ({ says: "Handed to a queue", quote: text(data, "reason"), quiet: true }),
  "audit.dequeue": (data) => ({ says: "Taken from a queue", quote: text(data, "reason"), quiet: true }),
  "audit.approval": (data) => ({ says: "An answer was signed", quote: text(data, "reason"), quiet: true }),
  "audit.verify": (data) => ({ says: "A signature was looked at", quote: text(data, "reason"), quiet: true }),
  "audit.check": (data) => ({ says: "It was looked at whether an approval holds", quote: text(data, "reason"), quiet: true }),
  "audit.sealed": () => ({ says: "What was recorded so far was sealed", quiet: true }),
  "audit.gate_block": (data) => ({ says: "A gate held something up", quote: text(data, "reason"), tone: "warn" }),
};

/** Whether these are quiet, only what stands in them says. */
const MAY_BE_LOUD = ["status.told", "goal.checked"];

/** All but what is bookkeeping whatever stands in it: nobody needs to fetch that who does not look for it. */
export const LOUD_KINDS = Object.keys(TELLERS).filter((kind) => TELLERS[kind]?.({}, "").quiet !== true || MAY_BE_LOUD.includes(kind));
