//! Every command an execution knows, every reason it can be refused for, and the edges where one becomes the other.

use std::collections::BTreeSet;

use windlass_domain::execution::ExecutionEvent;

use crate::notation::{Story, outcome};

/// The journal before, a command, and what it leads to.
type Case = (&'static str, &'static str, &'static str);

// The tables are not formatted: a case is a line.

#[track_caller]
fn check(&(before, command, expected): &Case) {
    let found = outcome(&Story::told(before).tell(command));
    assert_eq!(found, expected, "after `{before}`, `{command}`");
}

#[rustfmt::skip]
const BEGINNING: &[Case] = &[
    ("", "create", "journal.header executor"),
    ("", "launching", "refused: not created"),
    ("", "prompt", "refused: not created"),
    ("create", "create", "refused: already created"),
    ("create launching running", "create", "refused: already created"),
    ("create", "launching", "state.changed created > launching"),
    ("create launching", "running", "state.changed launching > running"),
    ("create", "running", "refused: no move created > running"),
];

#[rustfmt::skip]
const HEARING: &[Case] = &[
    ("create", "prompt@auth", "message.accepted prompt auth"),
    ("create launching running", "prompt", "message.accepted prompt owner"),
    ("create launching running", "inject@external", "injection.received user_message external"),
    ("create launching running paused", "inject@auth", "injection.received user_message auth"),
    ("create launching running awaiting_input", "prompt@auth", "message.accepted prompt auth"),
    ("create launching running", "inject@nonsense", "injection.received user_message external"),
];

#[rustfmt::skip]
const ASKING: &[Case] = &[
    ("create launching running", "ask", "model.requested 1 of 0 messages, with context"),
    ("create prompt launching running", "ask", "model.requested 1 of 1 messages, with context"),
    // The head of the prompt is named once and never again.
    ("create prompt launching running ask say", "ask", "model.requested 2 of 2 messages"),
    ("create launching running ask say", "ask[context=2]", "refused: context changed"),
    ("create launching running ask paused running", "ask[context=2]", "refused: context changed"),
    ("create", "ask", "refused: not running"),
    ("create launching", "ask", "refused: not running"),
    ("create launching lost", "ask", "refused: not running"),
    ("create launching running paused", "ask", "refused: not running"),
    ("create launching running awaiting_input", "ask", "refused: not running"),
    ("create launching running ask", "ask", "refused: not yet"),
    ("create launching running ask call:a", "ask", "refused: not yet"),
    ("create launching running ask call:a start:a=once", "ask", "refused: not yet"),
    ("create launching running ask call:a,b start:a=once ok:a", "ask", "refused: not yet"),
    ("create launching running ask call:a,b denied:b denied:a", "ask", "model.requested 2 of 3 messages"),
    // A request cut off by a pause or a crash is made again, under the next number.
    ("create launching running ask paused running", "ask", "model.requested 2 of 0 messages"),
    ("create launching running ask lost launching running", "ask", "model.requested 2 of 0 messages"),
    // An open call outlives pause and crash, and still stands before the next request.
    ("create launching running ask call:a paused running", "ask", "refused: not yet"),
    ("create launching running ask call:a start:a=once lost launching running", "ask", "refused: not yet"),
];

#[rustfmt::skip]
const SPENDING: &[Case] = &[
    ("create[iterations=0] launching running", "ask", "refused: over budget iterations"),
    ("create[iterations=1] launching running ask say", "ask", "refused: over budget iterations"),
    ("create[iterations=2] launching running ask say", "ask", "model.requested 2 of 1 messages"),
    // A request without an answer was an iteration too.
    ("create[iterations=1] launching running ask paused running", "ask", "refused: over budget iterations"),
    ("create[tokens=0] launching running", "ask", "refused: over budget tokens"),
    ("create[tokens=10] launching running ask say[input=6,output=3]", "ask", "model.requested 2 of 1 messages"),
    ("create[tokens=10] launching running ask say[input=6,output=4]", "ask", "refused: over budget tokens"),
    // What a lost request may have cost stays spent; what an answered one was thought to cost does not.
    ("create[tokens=10] launching running ask[input=10] paused running", "ask", "refused: over budget tokens"),
    ("create[tokens=10] launching running ask[input=9] paused running", "ask", "model.requested 2 of 0 messages"),
    ("create[tokens=10] launching running ask[input=99] say[input=1]", "ask", "model.requested 2 of 1 messages"),
    ("create[nanos=0] launching running", "ask", "refused: over budget money"),
    ("create[nanos=9] launching running ask say[nanos=8]", "ask", "model.requested 2 of 1 messages"),
    ("create[nanos=9] launching running ask say[nanos=9]", "ask", "refused: over budget money"),
    ("create[ms=0] launching running", "ask", "refused: over budget time"),
    ("create[ms=500] launching running +499", "ask", "model.requested 1 of 0 messages, with context"),
    ("create[ms=500] launching running +500", "ask", "refused: over budget time"),
    // Only time spent running counts.
    ("create[ms=500] +9000 launching +9000 running", "ask", "model.requested 1 of 0 messages, with context"),
    ("create[ms=500] launching running +300 paused +9000 running +199", "ask", "model.requested 1 of 0 messages, with context"),
    ("create[ms=500] launching running +300 paused +9000 running +200", "ask", "refused: over budget time"),
    ("create[ms=500] launching running +300 awaiting_input +9000 running +199", "ask", "model.requested 1 of 0 messages, with context"),
    // A clock set back gives nothing back that was already counted.
    ("create[ms=500] launching running +500 paused -9000 running", "ask", "refused: over budget time"),
    ("create[ms=500] launching running -9000", "ask", "model.requested 1 of 0 messages, with context"),
    // What a child has used is used here, and by a limit of this one.
    ("create[tokens=10] launching running", "charge[input=10]", "subagent.finished verifier"),
    ("create[tokens=10] launching running charge[input=9]", "ask", "model.requested 1 of 0 messages, with context"),
    ("create[tokens=10] launching running charge[input=10]", "ask", "refused: over budget tokens"),
    ("create[nanos=9] launching running charge[nanos=9]", "ask", "refused: over budget money"),
    // A budget stops asking, never the settling of what was asked.
    ("create[tokens=1] launching running ask call:a[input=5]", "start:a=once", "tool.started a bash once"),
    ("create[tokens=1] launching running ask call:a[input=5] start:a=once", "ok:a", "tool.finished a ok"),
    ("create[tokens=1] launching running ask say[input=5]", "completed", "state.changed running > completed"),
];

#[rustfmt::skip]
const ANSWERING: &[Case] = &[
    ("create launching running ask", "say", "model.responded 1 []"),
    ("create launching running ask", "call:b,a", "model.responded 1 [b a]"),
    ("create launching running ask", "no-answer", "model.failed 1 nobody answers"),
    ("create launching running ask no-answer", "ask", "model.requested 2 of 0 messages"),
    ("create launching running ask no-answer:it=shorter", "ask", "model.requested 2 of 1 messages"),
    ("create launching running", "no-answer", "refused: nothing asked"),
    ("create launching running ask say", "no-answer", "refused: nothing asked"),
    ("create launching running ask say ask", "say", "model.responded 2 []"),
    ("create launching running", "say", "refused: nothing asked"),
    ("create", "say", "refused: nothing asked"),
    ("create launching running ask say", "say", "refused: nothing asked"),
    // An answer that arrives after the request was given up is nobody's.
    ("create launching running ask paused", "say", "refused: nothing asked"),
    ("create launching running ask paused running", "say", "refused: nothing asked"),
    ("create launching running ask lost", "say", "refused: nothing asked"),
    ("create launching running ask", "call:a,a", "refused: id taken a"),
    ("create launching running ask", "call:a,b,c,b", "refused: id taken b"),
    ("create launching running ask call:a denied:a ask", "call:b,a", "refused: id taken a"),
    ("create launching running ask call:a denied:a ask paused running ask", "call:a", "refused: id taken a"),
];

#[rustfmt::skip]
const CALLING: &[Case] = &[
    ("create launching running ask call:a", "start:a=read", "tool.started a bash read"),
    ("create launching running ask call:a", "start:a=probe", "tool.started a bash probe"),
    ("create launching running ask call:a", "start:a=once", "tool.started a bash once"),
    ("create launching running ask call:a,b", "start:b=once", "tool.started b bash once"),
    ("create launching running ask call:a", "start:b=once", "refused: no call b"),
    ("create launching running", "start:a=once", "refused: no call a"),
    ("create launching running ask call:a start:a=once ok:a", "start:a=once", "refused: no call a"),
    ("create launching running ask call:a denied:a", "start:a=read", "refused: no call a"),
    ("create launching running ask call:a paused", "start:a=read", "refused: not running"),
    ("create launching running ask call:a lost", "start:a=read", "refused: not running"),
    ("create launching running ask call:a lost launching", "start:a=read", "refused: not running"),
    ("create launching running ask call:a paused running", "start:a=read", "tool.started a bash read"),
    // What may be run again is; what may not is not, whoever asks and under whatever name.
    ("create launching running ask call:a start:a=read", "start:a=read", "tool.started a bash read"),
    ("create launching running ask call:a start:a=probe lost launching running", "start:a=probe", "tool.started a bash probe"),
    ("create launching running ask call:a start:a=read", "start:a=once", "refused: another call a"),
    ("create launching running ask call:a start:a=once", "start:a=once", "refused: only once a"),
    ("create launching running ask call:a start:a=once", "start:a=read", "refused: only once a"),
    ("create launching running ask call:a start:a=once paused running", "start:a=probe", "refused: only once a"),
    ("create launching running ask call:a start:a=once lost launching running", "start:a=once", "refused: only once a"),
];

#[rustfmt::skip]
const DECIDING: &[Case] = &[
    ("create launching running ask call:a", "risk:a=high", "risk.checked a high"),
    ("create launching running ask call:a", "risk:b=high", "refused: no call b"),
    ("create launching running ask call:a", "rewrite:a", "decision.recorded a rewritten"),
    ("create launching running ask call:a rewrite:a", "rewrite:a", "refused: too late a"),
    ("create launching running ask call:a wait:a=1", "rewrite:a", "refused: too late a"),
    ("create launching running ask call:a start:a=once", "rewrite:a", "refused: too late a"),
    ("create launching running ask call:a", "wait:a=1", "decision.recorded a waiting"),
    ("create launching running ask call:a rewrite:a", "wait:a=1", "decision.recorded a waiting"),
    ("create launching running ask call:a wait:a=1", "wait:a=2", "refused: too late a"),
    ("create launching running ask call:a start:a=once", "wait:a=1", "refused: too late a"),
    ("create launching running ask call:a", "wait:b=1", "refused: no call b"),
    ("create launching running ask call:a", "question:a", "decision.recorded a question"),
    ("create launching running ask call:a start:a=child", "spawn:a", "subagent.spawned a"),
    ("create launching running ask call:a", "spawn:a", "refused: never started a"),
    ("create launching running ask call:a start:a=once", "spawn:a", "refused: never started a"),
    ("create launching running ask call:a", "spawn:b", "refused: no call b"),
    ("create launching running ask call:a start:a=child spawn:a", "spawn:a", "refused: only once a"),
    ("create launching running ask call:a start:a=child spawn:a", "start:a=child", "tool.started a bash child"),
    ("create launching running ask call:a start:a=child spawn:a", "charge:a", "subagent.finished subagent"),
    ("create launching running ask call:a start:a=child spawn:a charge:a", "charge:a", "refused: already charged"),
    ("create launching running ask call:a wait:a=1", "question:a", "refused: too late a"),
    ("create launching running ask call:a wait:a=1 approve:a=1", "question:a", "decision.recorded a question"),
    ("create launching running ask call:a question:a", "question:a", "refused: too late a"),
    ("create launching running ask call:a question:a", "approve:a=1", "refused: other card a"),
    ("create launching running ask call:a question:a", "ok:a", "tool.finished a ok"),
    // A yes counts for the card that was put, and only while it is asked.
    ("create launching running ask call:a wait:a=1", "approve:a=1", "decision.recorded a approved"),
    ("create launching running ask call:a wait:a=1 awaiting_input", "approve:a=1", "decision.recorded a approved"),
    ("create launching running ask call:a wait:a=1", "approve:a=2", "refused: other card a"),
    ("create launching running ask call:a", "approve:a=1", "refused: other card a"),
    ("create launching running ask call:a wait:a=1 approve:a=1", "approve:a=1", "refused: other card a"),
    ("create launching running ask call:a,b wait:a=1", "approve:b=1", "refused: other card b"),
    // Nothing starts while a person is asked, and what they allowed starts once.
    ("create launching running ask call:a wait:a=1", "start:a=once", "refused: unanswered a"),
    ("create launching running ask call:a wait:a=1 awaiting_input running", "start:a=once", "refused: unanswered a"),
    ("create launching running ask call:a wait:a=1 approve:a=1", "start:a=once", "tool.started a bash once"),
    ("create launching running ask call:a rewrite:a", "start:a=once", "tool.started a bash once"),
    ("create launching running ask call:a wait:a=1", "denied:a", "tool.finished a denied"),
    ("create launching running ask call:a wait:a=1", "ok:a", "refused: never started a"),
    ("create launching running ask call:a wait:a=1", "ask", "refused: not yet"),
];

#[rustfmt::skip]
const FINISHING: &[Case] = &[
    ("create launching running ask call:a start:a=once", "ok:a", "tool.finished a ok"),
    ("create launching running ask call:a start:a=once", "error:a", "tool.finished a error"),
    ("create launching running ask call:a start:a=once", "timed_out:a", "tool.finished a timed_out"),
    ("create launching running ask call:a start:a=once", "cancelled:a", "tool.finished a cancelled"),
    ("create launching running ask call:a start:a=once", "interrupted:a", "tool.finished a interrupted"),
    ("create launching running ask call:a,b start:b=read", "ok:b", "tool.finished b ok"),
    // Wrong arguments and denied leave are results of calls that never began.
    ("create launching running ask call:a", "error:a", "tool.finished a error"),
    ("create launching running ask call:a", "denied:a", "tool.finished a denied"),
    ("create launching running ask call:a", "cancelled:a", "tool.finished a cancelled"),
    ("create launching running ask call:a", "ok:a", "refused: never started a"),
    ("create launching running ask call:a,b start:a=read", "ok:b", "refused: never started b"),
    ("create launching running ask call:a", "ok:b", "refused: no call b"),
    ("create launching running ask call:a start:a=read ok:a", "ok:a", "refused: no call a"),
    ("create launching running ask call:a denied:a", "error:a", "refused: no call a"),
    // A call is settled wherever the pause or the crash left the execution.
    ("create launching running ask call:a start:a=once paused", "interrupted:a", "tool.finished a interrupted"),
    ("create launching running ask call:a start:a=once lost", "interrupted:a", "tool.finished a interrupted"),
    ("create launching running ask call:a start:a=once lost launching", "interrupted:a", "tool.finished a interrupted"),
];

#[rustfmt::skip]
const KEEPING: &[Case] = &[
    ("create launching running", "keep:out/report.md", "owner-effect.recorded out/report.md"),
    ("create launching running keep:a keep:a", "keep:a", "owner-effect.recorded a"),
];

/// After an end nothing is recorded, whichever end and whichever command.
#[rustfmt::skip]
const ENDED: &[Case] = &[
    ("create launching running completed", "create", "refused: over"),
    ("create launching running completed", "running", "refused: over"),
    ("create launching running completed", "failed", "refused: over"),
    ("create launching running completed", "prompt", "refused: over"),
    ("create launching running completed", "inject", "refused: over"),
    ("create launching running completed", "ask", "refused: over"),
    ("create launching running ask failed", "say", "refused: over"),
    ("create launching running ask call:a cancelled", "start:a=read", "refused: over"),
    ("create launching running ask call:a start:a=once failed", "ok:a", "refused: over"),
    ("create cancelled", "keep:a", "refused: over"),
    ("create launching running completed", "charge[input=1]", "refused: over"),
    ("create failed", "launching", "refused: over"),
];

#[rustfmt::skip]
const COMPACTING: &[Case] = &[
    ("create launching running", "compact", "compaction.started 1 threshold"),
    ("create launching running", "overflow", "compaction.started 1 overflow"),
    ("create launching running compact clear: relieve", "overflow", "compaction.started 2 overflow"),
    ("create launching", "compact", "refused: not running"),
    ("create launching running ask", "compact", "refused: not yet"),
    ("create launching running ask call:a", "compact", "refused: not yet"),
    ("create launching running compact", "compact", "refused: compaction is under way already"),
    ("create launching running", "clear:", "refused: compaction has not begun"),
    ("create launching running ask call:a error:a compact", "clear:a", "compaction.cleared old 1"),
    ("create launching running ask call:a error:a compact", "clear:b", "refused: no call b"),
    ("create launching running compact", "clear-all:", "refused: compaction has cleared so much already"),
    ("create launching running compact clear:", "clear:", "refused: compaction has cleared so much already"),
    ("create launching running compact clear:", "clear-all:", "compaction.cleared all 0"),
    // The agent is told once in a cycle to save what it needs.
    ("create launching running compact clear:", "flush", "compaction.flushing"),
    ("create launching running compact clear:", "flushed", "refused: compaction has no flush to end"),
    ("create launching running compact clear: flush ask", "flushed", "refused: not yet"),
    ("create launching running compact clear: flush ask say", "flushed", "compaction.flushed 1"),
    ("create launching running compact clear: flush flushed", "flush", "refused: compaction has had its flush"),
    // A summary is asked for like anything else, but with words of its own.
    ("create prompt launching running ask say inject compact clear:", "summarise:1=2", "model.requested 2 for a summary of 1 messages"),
    ("create[iterations=1] prompt launching running ask say inject compact clear:", "summarise:1=2", "refused: over budget iterations"),
    ("create prompt launching running compact summarise:1=2", "call:a,b", "model.responded 1 []"),
    ("create prompt launching running ask say inject compact clear:", "skip:2", "compaction.skipped to 2"),
    ("create prompt launching running ask say inject compact clear:", "skip:1", "refused: compaction cannot skip to there"),
    ("create prompt launching running ask say inject compact clear:", "skip:9", "refused: compaction cannot skip to there"),
    // Neither is a call parted from its result, nor is anything lost that a person said.
    ("create prompt launching running inject ask call:a error:a compact clear:", "shorten:2", "compaction.finished 1 from 900 to 100"),
    ("create prompt launching running inject ask call:a error:a compact clear:", "shorten:3", "refused: compaction would part a call from its result"),
    ("create prompt launching running inject ask call:a error:a compact clear:", "shorten:9", "refused: compaction would part a call from its result"),
    ("create prompt launching running inject ask say compact clear:", "shorten-forgetting:2", "refused: compaction would lose what a person said"),
    ("create prompt launching running inject ask say compact clear:", "shorten-forgetting:1", "compaction.finished 1 from 900 to 100"),
    ("create prompt launching running inject ask say compact clear: shorten:2 compact clear:", "shorten-forgetting:2", "refused: compaction would lose what a person said"),
    ("create launching running compact clear:", "hopeless", "compaction.failed 1 the goal is a book"),
    ("create launching running compact clear: hopeless", "relieve", "refused: compaction has failed"),
    ("create prompt launching running", "warn:1", "doom_loop.detected 1"),
    ("create prompt launching running ask call:a", "refusal:evil.example", "egress.refused evil.example"),
    ("create prompt launching running ask call:a", "warn:1", "refused: not yet"),
    ("create[pattern=1] prompt launching running", "step:look", "pattern.stepped look act"),
    ("create[pattern=1] prompt launching running", "step:act", "refused: not there act"),
    ("create[pattern=1] prompt launching running", "step:look[transition=6]", "refused: not there look"),
    ("create[pattern=1] prompt launching running step:look", "step:look", "refused: not there look"),
    ("create prompt launching running", "step:look", "refused: not there look"),
    ("create[pattern=1] prompt launching running ask call:a", "step:look", "refused: not yet"),
    ("create[pattern=1] prompt launching running", "nudge:look", "pattern.nudged Not yet."),
    ("create[pattern=1] prompt launching running ask call:a", "nudge:look", "refused: not yet"),
];

/// One that a program of its own carries. What it is told and what it asks for need not wait for each other.
#[rustfmt::skip]
const CARRIED: &[Case] = &[
    (FOREIGN, "launch", "runner.noted agent 1.2"),
    (FOREIGN, "session:s=1", "observation.recorded 1 accepted"),
    (FOREIGN, "said:hello=1", "observation.recorded 1 recorded_only"),
    (FOREIGN, "ended:done=1", "observation.recorded 1 accepted"),
    (FOREIGN, "claim:progress=1", "observation.recorded 1 recorded_only"),
    (FOREIGN, "claim:note=1", "observation.recorded 1 recorded_only"),
    (FOREIGN, "claim:needs_input=1", "observation.recorded 1 accepted"),
    (FOREIGN, "claim:blocked=1", "observation.recorded 1 accepted"),
    (FOREIGN, "claim:failed_claim=1", "observation.recorded 1 accepted"),
    // Claims of success are for the checks to confirm.
    (FOREIGN, "claim:ready_for_verification=1", "observation.recorded 1 needs_verification"),
    (FOREIGN, "claim:completed_claim=1", "observation.recorded 1 needs_verification"),
    // Told twice, it counts once, however it is told.
    ("create[foreign=1] launching running said:hello=1", "said:hello=1", "refused: told before"),
    ("create[foreign=1] launching running said:hello=1", "claim:note=1", "refused: told before"),
    ("create[foreign=1] launching running said:hello=1", "said:hello=2", "observation.recorded 2 recorded_only"),
    ("create[foreign=1] launching running said:hello=1 lost launching running", "said:hello=1", "refused: told before"),
    (FOREIGN, "propose:a", "call.proposed a"),
    ("create[foreign=1] launching running propose:a", "propose:b", "call.proposed b"),
    ("create[foreign=1] launching running propose:a", "propose:a", "refused: id taken a"),
    ("create[foreign=1] launching running propose:a denied:a", "propose:a", "refused: id taken a"),
    ("create[foreign=1] launching running propose:a", "start:a=once", "tool.started a bash once"),
    ("create[foreign=1] launching running propose:a", "inject@auth", "injection.received user_message auth"),
    ("create[foreign=1] launching running propose:a", "completed", "refused: unfinished a"),
    ("create[foreign=1] launching running propose:a denied:a", "completed", "state.changed running > completed"),
    ("create[foreign=1] launching running paused", "propose:a", "refused: not running"),
    (FOREIGN, "open:1", "exchange.opened 1"),
    ("create[foreign=1] launching running open:1", "open:2", "exchange.opened 2"),
    ("create[foreign=1] launching running open:1", "open:1", "refused: no exchange 1"),
    ("create[foreign=1] launching running open:1", "close:1", "exchange.closed 1"),
    ("create[foreign=1] launching running open:1 close:1", "close:1", "refused: no exchange 1"),
    ("create[foreign=1] launching running paused", "open:1", "refused: not running"),
    // What is asked through us is paid from the same purse, what is in flight included.
    ("create[foreign=1,tokens=10] launching running open:1[input=10]", "open:2", "refused: over budget tokens"),
    ("create[foreign=1,tokens=10] launching running open:1 close:1[input=10]", "open:2", "refused: over budget tokens"),
    ("create[foreign=1,nanos=5] launching running open:1[nanos=5]", "open:2", "refused: over budget money"),
    ("create[foreign=1,iterations=1] launching running open:1 close:1", "open:2", "refused: over budget iterations"),
    // What may be answered is set aside until it has been; others wait for that, and who is alone is answered more shortly.
    ("create[foreign=1,tokens=1000] launching running", "open:1[input=100,output=900]", "exchange.opened 1 for 900"),
    ("create[foreign=1,tokens=1000] launching running", "open:1[input=100,output=901]", "exchange.opened 1 for 900"),
    ("create[foreign=1,tokens=1000] launching running", "open:1[input=744,output=901]", "exchange.opened 1 for 256"),
    ("create[foreign=1,tokens=1000] launching running", "open:1[input=745,output=901]", "refused: over budget tokens"),
    ("create[foreign=1,tokens=1000] launching running", "open:1[input=995,output=5]", "exchange.opened 1 for 5"),
    ("create[foreign=1,tokens=1000] launching running open:1[input=100,output=500]", "open:2[input=100,output=300]", "exchange.opened 2 for 300"),
    ("create[foreign=1,tokens=1000] launching running open:1[input=100,output=500]", "open:2[input=100,output=301]", "refused: set aside"),
    ("create[foreign=1,tokens=1000] launching running open:1[input=100,output=500] close:1[input=100]", "open:2[input=100,output=800]", "exchange.opened 2 for 800"),
    ("create[foreign=1,nanos=500] launching running", "open:1[nanos=100,output=900]", "exchange.opened 1 for 400"),
    ("create[foreign=1,nanos=500] launching running open:1[output=400]", "open:2[nanos=100,output=1]", "refused: set aside"),
    ("create[foreign=1,nanos=500] launching running", "open:1[nanos=245,output=900]", "refused: over budget money"),
    ("create[foreign=1,tokens=1000] launching running", "open:1[input=100,output=900,left=500]", "exchange.opened 1 for 400"),
    ("create[foreign=1,tokens=1000] launching running", "open:1[input=100,output=900,left=300]", "refused: over budget tokens"),
    // An exchange that a crash cut off stays spent, and is not heard of again.
    ("create[foreign=1,tokens=10] launching running open:1[input=10] lost launching running", "open:2", "refused: over budget tokens"),
    ("create[foreign=1] launching running open:1 lost launching running", "close:1", "refused: no exchange 1"),
    (FOREIGN, "delivered", "message.delivery delivered"),
    ("create launching running", "launch", "refused: not foreign"),
    ("create launching running", "said:hello=1", "refused: not foreign"),
    ("create launching running", "propose:a", "refused: not foreign"),
    ("create launching running", "open:1", "refused: not foreign"),
    ("create launching running", "delivered", "refused: not foreign"),
];

/// Going on with a conversation, and with another model.
const FORKED: &[Case] = &[
    ("create", "fork", "execution.forked turn 1"),
    ("create[foreign=1]", "fork:s", "execution.forked turn 1"),
    ("create", "fork:s", "refused: not foreign"),
    ("create fork", "fork", "refused: begun already"),
    ("create prompt", "fork", "refused: begun already"),
    ("create launching", "fork", "refused: begun already"),
    ("create fork prompt launching running", "ask", "model.requested 1 of 3 messages, with context"),
    ("create launching running", "switch:big", "model.switched rehearsal > big"),
    ("create launching running switch:big", "switch:small", "model.switched big > small"),
    ("create launching running switch:big", "switched", "message.delivery delivered"),
    ("create launching running ask", "switch:big", "refused: not yet"),
    ("create launching running ask call:a", "switch:big", "refused: not yet"),
    ("create[foreign=1] launching running open:1", "switch:big", "model.switched rehearsal > big"),
    ("create launching running ask say completed", "switch:big", "refused: over"),
];

const FOREIGN: &str = "create[foreign=1] launching running";

const ALL: [&[Case]; 13] = [
    BEGINNING, HEARING, ASKING, SPENDING, ANSWERING, CALLING, DECIDING, FINISHING, KEEPING, ENDED, COMPACTING, CARRIED,
    FORKED,
];

#[test]
fn what_a_program_of_its_own_tells_and_asks_is_one_path_whatever_the_order() {
    CARRIED.iter().for_each(check);
}

#[test]
fn a_conversation_is_taken_over_first_and_another_model_is_asked_between_questions() {
    FORKED.iter().for_each(check);
}

#[test]
fn a_compaction_goes_its_way_and_loses_nothing_on_it() {
    COMPACTING.iter().for_each(check);
}

#[test]
fn an_execution_is_created_once_and_then_launched() {
    BEGINNING.iter().for_each(check);
}

#[test]
fn words_from_outside_keep_the_label_they_came_with() {
    HEARING.iter().for_each(check);
}

#[test]
fn the_model_is_asked_only_while_running_with_nothing_open_and_the_same_context() {
    ASKING.iter().for_each(check);
}

#[test]
fn a_limit_stops_the_next_request_and_nothing_that_is_under_way() {
    SPENDING.iter().for_each(check);
}

#[test]
fn an_answer_needs_a_request_and_fresh_call_ids() {
    ANSWERING.iter().for_each(check);
}

#[test]
fn a_call_starts_only_while_running_and_once_means_once() {
    CALLING.iter().for_each(check);
}

#[test]
fn a_person_is_asked_before_and_never_after() {
    DECIDING.iter().for_each(check);
}

#[test]
fn a_call_is_finished_once_and_succeeds_only_if_it_began() {
    FINISHING.iter().for_each(check);
}

#[test]
fn deliverables_are_kept() {
    KEEPING.iter().for_each(check);
}

#[test]
fn nothing_is_recorded_after_an_end() {
    ENDED.iter().for_each(check);
}

/// Add a case above before adding a word here.
const REFUSALS: [&str; 29] = [
    "already charged",
    "already created",
    "another call",
    "begun already",
    "compaction",
    "context changed",
    "id taken",
    "never started",
    "no call",
    "set aside",
    "no exchange",
    "no move",
    "not created",
    "not foreign",
    "not running",
    "not there",
    "not yet",
    "nothing asked",
    "only once",
    "other card",
    "over",
    "over budget iterations",
    "over budget money",
    "over budget time",
    "over budget tokens",
    "told before",
    "too late",
    "unanswered",
    "unfinished",
];

#[test]
fn the_tables_leave_out_no_record_and_no_reason() {
    let mut recorded = BTreeSet::new();
    let mut refused = BTreeSet::new();
    for (_, _, expected) in ALL.into_iter().flatten() {
        match expected.strip_prefix("refused: ") {
            None => recorded.insert(expected.split(' ').next().expect("a kind")),
            Some(why) => {
                let known = REFUSALS.iter().filter(|word| why == **word || why.starts_with(&format!("{word} ")));
                refused.insert(*known.max_by_key(|word| word.len()).expect("a reason in REFUSALS"))
            }
        };
    }
    assert_eq!(recorded, ExecutionEvent::KINDS.iter().copied().collect());
    assert_eq!(refused, REFUSALS.into_iter().collect());
}
