//! A project: a request that is carried out by a plan. As data, as the document that a user or a planner writes, and as the rehearsal
//! of everybody who works for it. Every item writes a file of its own with its mark in it, so that whoever finds the mark knows
//! whose work has arrived.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use windlass_domain::BaseCase;
use windlass_domain::approval::Verdict;
use windlass_domain::task::ExecutionConfig;
use windlass_engine::{Planning, Submission, SubmittedModel, read_plan};

use crate::engines::objective::{ADDED, Terms};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Beside those of jobs.
    pub number: u8,
    pub tenant: u8,
    pub at: Duration,
    pub author: Author,
    /// What a planner has looked into before it writes the first.
    pub inquiry: Inquiry,
    pub first: Draft,
    /// What a planner writes when it is to write again.
    pub second: Option<Draft>,
    /// What a planner says about an item that is stuck.
    pub guidance: Guidance,
    /// What a person says to the first card, the second, and so on; to all others nothing.
    pub replies: Vec<(Option<Verdict>, Duration)>,
    /// What the user writes meanwhile, and when.
    pub edits: Vec<(Duration, Edited)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    User,
    /// A user, with an objective beside the plan.
    Agreed(Terms),
    Planner,
    /// A planner that writes no plan.
    Prose,
    /// A planner whose plan cannot be read.
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guidance {
    Answers,
    /// Says nothing.
    Silent,
    /// Not before anybody has given up waiting.
    Late,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inquiry {
    /// What comes of each question.
    pub questions: Vec<Found>,
    /// So many of them are waited for.
    pub waits_for: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Answer,
    /// Whoever looks says nothing.
    Nothing,
    /// Not before anybody has given up waiting.
    TooLate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// A file that nobody else touches.
    Own,
    /// One that items write too.
    Shared,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub items: Vec<Item>,
    /// Of the whole.
    pub join: Join,
    pub inner: Option<Inner>,
}

/// A project in the project: some of the items, next to each other, with a check of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inner {
    pub from: usize,
    pub to: usize,
    /// All of it waits for this one, which stands before it.
    pub after: Option<usize>,
    pub join: Join,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    Unchecked,
    Passes,
    Fails,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Earlier ones, by their place.
    pub depends_on: Vec<usize>,
    /// It is one of two choices, with the one before it.
    pub is_choice: bool,
    /// So many attempts fail their check.
    pub fails: u8,
    /// It writes what others write too, and does not say so.
    pub overlaps: bool,
    pub millis: u16,
}

/// What the user's own file is called, and the one that everybody writes.
pub const OWN: &str = "user.txt";
pub const SHARED: &str = "shared.txt";

impl Project {
    pub fn submission(&self, workspace: &Path) -> Submission {
        let planning = match &self.author {
            Author::User => {
                let document = self.document(&self.first, 1);
                let plan = read_plan(&document).unwrap_or_else(|problems| panic!("{problems}\n{document}"));
                Planning::Given(Box::new(plan))
            }
            Author::Agreed(terms) => Planning::Aligned(Box::new(self.agreed(terms))),
            Author::Planner | Author::Prose | Author::Broken => Planning::Wanted,
        };
        Submission {
            goal: format!("Carry out project-{}.", self.number),
            constraints: Vec::new(),
            attachments: Vec::new(),
            config: ExecutionConfig::default(),
            agent_id: "executor".to_owned(),
            model: SubmittedModel::Rehearsal(self.script()),
            workspace: workspace.to_owned(),
            base_case: BaseCase::default(),
            budget: windlass_domain::Budget::default(),
            sandbox: "scripted".to_owned(),
            planning,
        }
    }

    pub fn id(&self) -> String {
        format!("project-{}", self.number)
    }

    /// What the user adds with their `number`-th edit.
    pub fn line(&self, number: usize) -> String {
        format!("{} edit {number}", self.id())
    }

    fn drafts(&self) -> impl Iterator<Item = (u8, &Draft)> {
        std::iter::once((1, &self.first)).chain(self.second.as_ref().map(|draft| (2, draft)))
    }

    /// The one that was carried out last, where somebody wrote so many.
    pub fn draft(&self, revision: u32) -> Option<&Draft> {
        if revision <= 1 { Some(&self.first) } else { self.second.as_ref() }
    }

    /// Its `number`-th question.
    pub fn question(&self, number: usize) -> String {
        format!("question {number} of {}", self.id())
    }

    pub fn document(&self, draft: &Draft, revision: u8) -> String {
        let mut text = format!("---\nid: {}\ntype: project\ntitle: Project {}\n", self.id(), self.number);
        let mut line = |line: String| writeln!(text, "{line}").expect("a string takes everything");
        draft.join.verify().into_iter().for_each(|verify| line(verify.to_owned()));
        line("tasks:".to_owned());
        for (place, item) in draft.items.iter().enumerate() {
            if let Some(inner) = draft.inner.filter(|inner| inner.from == place) {
                line(format!("  - id: {}", inner_name(revision)));
                line("    type: project".to_owned());
                line("    title: Some of it".to_owned());
                inner.after.into_iter().for_each(|place| line(format!("    depends_on: [{}]", name(revision, place))));
                inner.join.verify().into_iter().for_each(|verify| line(format!("    {verify}")));
                line("    tasks:".to_owned());
            }
            let indent = if draft.is_inside(place) { "      " } else { "  " };
            self.item(draft, revision, place, item).lines().for_each(|part| line(format!("{indent}{part}")));
        }
        line("---\n# What to do\nWrite the files.".to_owned());
        text
    }

    fn item(&self, draft: &Draft, revision: u8, place: usize, item: &Item) -> String {
        let (id, mark) = (name(revision, place), self.mark(revision, place));
        let mut text = format!("- id: {id}\n  type: task\n  title: Write {mark}\n  agent: {mark}\n");
        let mut line = |line: String| writeln!(text, "  {line}").expect("a string takes everything");
        // Ways of an objective are soon given up.
        let attempts = if matches!(self.author, Author::Agreed(_)) { 2 } else { 4 };
        line(format!("budget: {{ max_attempts: {attempts} }}"));
        line(format!("verify: [{{ command: expect {mark}.txt {mark} }}]"));
        let needed: Vec<String> = item.depends_on.iter().map(|place| name(revision, *place)).collect();
        if !needed.is_empty() {
            line(format!("depends_on: [{}]", needed.join(", ")));
        }
        let is_followed = draft.items.get(place + 1).is_some_and(|next| next.is_choice);
        if item.is_choice || is_followed {
            let group = if item.is_choice { place - 1 } else { place };
            line(format!("any_of: either{revision}-{group}"));
        }
        text
    }

    pub fn mark(&self, revision: u8, place: usize) -> String {
        format!("{}-{}", self.id(), name(revision, place))
    }

    fn script(&self) -> String {
        let mut text = "version: 1\ntracks:\n".to_owned();
        let mut line = |line: String| writeln!(text, "{line}").expect("a string takes everything");
        for (revision, draft) in self.drafts() {
            for (place, item) in draft.items.iter().enumerate() {
                let (mark, delay) = (self.mark(revision, place), item.millis);
                line(format!("  {mark}:"));
                line(format!("    - {{ when: {{ last_result: . }}, reply: {mark} is there., repeat: forever }}"));
                let shared = write(SHARED, &mark);
                let shared = if item.overlaps { format!(", {shared}") } else { String::new() };
                let right = write(&format!("{mark}.txt"), &mark);
                let calls = format!("delay_ms: {delay}, calls: [ {right}{shared} ], repeat: forever");
                if item.fails == 0 {
                    line(format!("    - {{ {calls} }}"));
                    continue;
                }
                line(format!("    - {{ when: {{ request: \"Attempt {}:\" }}, {calls} }}", item.fails));
                let wrong = write(&format!("{mark}.wrong.txt"), &mark);
                line(format!("    - {{ delay_ms: {delay}, calls: [ {wrong} ], repeat: forever }}"));
            }
        }
        if let Author::Agreed(terms) = &self.author {
            self.on_the_way(terms).into_iter().for_each(&mut line);
        }
        self.answers().into_iter().for_each(&mut line);
        line("  planner:".to_owned());
        let (delay, guidance) = match self.guidance {
            Guidance::Answers => (200, "Write it right."),
            Guidance::Silent => (200, " "),
            Guidance::Late => (120_000, "Too late."),
        };
        let stuck = "when: { request: An item of your plan is stuck }";
        let (split, parts) = ("when: { request: Split it into two or more }", quoted(&self.parts()));
        line(format!("    - {{ {split}, delay_ms: 100, reply: {parts}, repeat: forever }}"));
        line(format!("    - {{ {stuck}, delay_ms: {delay}, reply: \"{guidance}\", repeat: forever }}"));
        let second = match &self.second {
            Some(draft) => self.document(draft, 2),
            None => "There is no other way.".to_owned(),
        };
        let again = "when: { request: \"The plan before this one|The plan that you are to change\" }";
        line(format!("    - {{ {again}, delay_ms: 100, reply: {}, repeat: forever }}", quoted(&second)));
        let first = match self.author {
            Author::User | Author::Agreed(_) | Author::Planner => self.document(&self.first, 1),
            Author::Prose => "I would rather not.".to_owned(),
            Author::Broken => "---\nid: broken\ntype: project\n---\n# What to do\nNothing.\n".to_owned(),
        };
        self.first_plan(&quoted(&first)).into_iter().for_each(&mut line);
        text
    }

    /// Of whoever works on what was added, and of whoever looks at a way before it is taken.
    fn on_the_way(&self, terms: &Terms) -> Vec<String> {
        let mark = self.mark(1, ADDED);
        let call = write(&format!("{mark}.txt"), &mark);
        let report = format!(
            r#"{{"feasible": {}, "findings": "It was looked at.", "cost_estimate": "little"}}"#,
            terms.is_feasible
        );
        vec![
            format!("  {mark}:"),
            format!("    - {{ when: {{ last_result: . }}, reply: {mark} is there., repeat: forever }}"),
            format!("    - {{ delay_ms: 50, calls: [ {call} ], repeat: forever }}"),
            "  probe:".to_owned(),
            format!("    - {{ delay_ms: 100, reply: {}, repeat: forever }}", quoted(&report)),
        ]
    }

    /// What the first that is split consists of; whoever is split after it has no parts that nobody has yet.
    fn parts(&self) -> String {
        let part = |name: &str| format!("  - {{ id: {name}, type: task, title: Do {name} }}\n");
        let parts = [part("part-one"), part("part-two")].concat();
        format!("---\nid: {}-parts\ntype: project\ntitle: Parts\ntasks:\n{parts}---\n# What to do\nBoth.\n", self.id())
    }

    /// The planner asks everything at once, waits for as much as it wants to wait for, and writes its plan with that.
    fn first_plan(&self, plan: &str) -> Vec<String> {
        let Inquiry { questions, waits_for } = &self.inquiry;
        if questions.is_empty() {
            return vec![format!("    - {{ delay_ms: 100, reply: {plan}, repeat: forever }}")];
        }
        let ask = |number| {
            let question = self.question(number);
            format!("{{ tool: request_research, args: {{ task: \"{question}\", return_format: a line }} }}")
        };
        let calls = (0..questions.len()).map(ask).collect::<Vec<_>>().join(", ");
        let enough = match waits_for {
            0 => "last_result: .".to_owned(),
            count => format!("request: \"(?s)(What you had looked into.*){{{count}}}\""),
        };
        let waits = quoted(r#"{"message": "I wait.", "needs_research": true}"#);
        vec![
            format!("    - {{ when: {{ {enough} }}, delay_ms: 100, reply: {plan}, repeat: forever }}"),
            format!("    - {{ when: {{ last_result: . }}, delay_ms: 50, reply: {waits}, repeat: forever }}"),
            format!("    - {{ delay_ms: 100, calls: [ {calls} ], repeat: forever }}"),
        ]
    }

    /// Of those who look into something.
    fn answers(&self) -> Vec<String> {
        let answer = |(number, found): (usize, &Found)| {
            let (delay, words) = match found {
                Found::Answer => (300, "It is so."),
                Found::Nothing => (100, " "),
                Found::TooLate => (200_000, "It was so."),
            };
            let when = format!("when: {{ request: {} }}", self.question(number));
            format!("    - {{ {when}, delay_ms: {delay}, reply: \"{words}\", repeat: forever }}")
        };
        let answers = self.inquiry.questions.iter().enumerate().map(answer);
        let none = "    - { reply: Nobody asked., repeat: forever }".to_owned();
        std::iter::once("  researcher:".to_owned()).chain(answers).chain([none]).collect()
    }
}

impl Draft {
    fn is_inside(&self, place: usize) -> bool {
        self.inner.is_some_and(|inner| (inner.from..inner.to).contains(&place))
    }

    /// Whether checks of the whole, or of a part of it, fail whatever is done.
    pub fn is_hopeless(&self) -> bool {
        self.join == Join::Fails || self.inner.is_some_and(|inner| inner.join == Join::Fails)
    }
}

impl Join {
    const fn verify(self) -> Option<&'static str> {
        match self {
            Self::Unchecked => None,
            Self::Passes => Some("verify: [{ command: say fine }]"),
            Self::Fails => Some("verify: [{ command: fail }]"),
        }
    }
}

fn inner_name(revision: u8) -> String {
    format!("r{revision}-inner")
}

pub fn name(revision: u8, place: usize) -> String {
    format!("r{revision}-item-{place}")
}

fn write(path: &str, content: &str) -> String {
    format!("{{ tool: write, args: {{ path: \"{path}\", content: \"{content}\\n\" }} }}")
}

/// As YAML reads it on one line.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("plain text")
}
