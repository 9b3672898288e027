//! A job as the engine sees it: a submission with a rehearsal for its agent. Every deed leaves a mark of its own, so that
//! whoever finds the mark knows whose it is.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use windlass_domain::task::{DeadlineAction, ExecutionConfig};
use windlass_domain::{BaseCase, Budget, Wall};
use windlass_engine::{Submission, SubmittedModel};

use crate::engines::plan::{Deed, Help, Job, Kind, Mood};
use crate::equipment::OPEN;
use crate::process::BEGINNING;

impl Job {
    pub fn submission(&self, workspace: &Path, now: Wall) -> Submission {
        let (deadline, deadline_action) = match self.deadline {
            None => (None, DeadlineAction::default()),
            Some((after, action)) => (Some(now + after), action),
        };
        Submission {
            goal: "Do the work.".to_owned(),
            constraints: Vec::new(),
            attachments: Vec::new(),
            config: ExecutionConfig { deadline, deadline_action, ..ExecutionConfig::default() },
            agent_id: "executor".to_owned(),
            model: SubmittedModel::Rehearsal(self.script()),
            workspace: workspace.to_owned(),
            base_case: BaseCase::default(),
            // One, so that an attempt which is begun twice is one too many.
            budget: Budget { max_attempts: 1, ..Budget::default() },
            sandbox: if self.is_open { OPEN } else { "scripted" }.to_owned(),
            planning: windlass_engine::Planning::None,
        }
    }

    fn mark(&self, deed: usize) -> String {
        format!("job-{}-deed-{deed}", self.number)
    }

    /// The deed that leaves this mark.
    pub fn marked<'a>(&'a self, text: &str) -> Option<&'a Deed> {
        (0..self.deeds.len()).find(|deed| text.contains(&self.mark(*deed))).map(|deed| &self.deeds[deed])
    }

    fn script(&self) -> String {
        let mut text = format!("version: 1\ntracks:\n{}  default:\n", self.helpers());
        let mut line = |line: String| writeln!(text, "    {line}").expect("a string takes everything");
        match self.model {
            Mood::Well | Mood::Slow => {}
            Mood::Flaky => line("- error: { status: 429, retry_after: 1, times: 2 }".to_owned()),
            Mood::Away => line("- error: { status: 503, times: 7 }".to_owned()),
        }
        let delay = if self.model == Mood::Slow { 1_500 } else { 50 };
        for (number, deed) in self.deeds.iter().enumerate() {
            line(format!("- delay_ms: {delay}"));
            line(format!("  calls: [ {} ]", self.call(number, *deed)));
        }
        line("- delay_ms: 20".to_owned());
        line("  reply: All done.".to_owned());
        // For words that come after the last one.
        line("- { reply: Heard., repeat: forever }".to_owned());
        text
    }

    /// Each does what its task names, and says so, whatever came of it.
    fn helpers(&self) -> String {
        let mut text = "  subagent:\n    - { when: { last_result: . }, reply: Helped., repeat: forever }\n".to_owned();
        for (number, deed) in self.deeds.iter().enumerate() {
            let Kind::Spawn { helpers, does } = deed.kind else { continue };
            for mark in (0..helpers).map(|helper| helper_mark(&self.mark(number), helper)) {
                let verb = if does == Help::High { "haul" } else { "append" };
                let call = bash(verb, &mark, deed.seconds);
                let line = format!("    - {{ when: {{ request: {mark} }}, calls: [ {call} ], repeat: forever }}");
                writeln!(text, "{line}").expect("a string takes everything");
            }
        }
        text
    }

    fn call(&self, number: usize, deed: Deed) -> String {
        let (mark, seconds) = (self.mark(number), deed.seconds);
        let bash = |verb| bash(verb, &mark, seconds);
        match deed.kind {
            Kind::Plain => bash("append"),
            Kind::High => bash("haul"),
            Kind::Critical => bash("raze"),
            Kind::Watch { until_seconds } => {
                let until = (BEGINNING + Duration::from_secs(until_seconds.into())).to_rfc3339();
                format!(
                    "{{ tool: monitor, args: {{ interval_seconds: 10, check_prompt: \"look {mark}\", timeout_at: \"{until}\", \
                     timeout_action: fail }} }}"
                )
            }
            Kind::Ask => format!("{{ tool: ask_user, args: {{ question: \"{mark}: which colour?\" }} }}"),
            Kind::Spawn { helpers, .. } => {
                let spawn = |helper| {
                    let mark = helper_mark(&mark, helper);
                    format!("{{ tool: spawn_agent, args: {{ label: {mark}, task: {mark} }} }}")
                };
                (0..helpers).map(spawn).collect::<Vec<_>>().join(", ")
            }
            Kind::Write => format!("{{ tool: write, args: {{ path: \"{mark}.txt\", content: \"{mark}\" }} }}"),
        }
    }
}

fn helper_mark(mark: &str, helper: u8) -> String {
    format!("{mark}-helper-{helper}")
}

fn bash(verb: &str, mark: &str, seconds: u8) -> String {
    let rest = if seconds == 0 { String::new() } else { format!("; sleep {seconds}") };
    format!("{{ tool: bash, args: {{ command: \"{verb} log.txt {mark}{rest}\" }} }}")
}
