//! Work graphs: what may begin when, and that whatever becomes of the work, there is an end.

use std::collections::BTreeMap;

use proptest::prelude::*;
use windlass_domain::approval::CardId;
use windlass_domain::graph::{
    AtomEnded, AtomObserved, AtomOutcome, AtomProgress, AtomStarted, Bill, Binding, GraphAction, GraphApplied,
    GraphMove, GraphRejected, GraphState, JoinChecked, Merged, PlanAnswer, PlanAnswered, PlanAsked, PlanProposed,
    PlannerStarted, Proposer, Remembered, ReviewAnswered, ReviewAsked, SinksReopened, SplitEnded, SplitStarted, Switch,
    conflicts, decide, next_moves,
};
use windlass_domain::plan::{AtomId, Briefing, InteractionMode, Item, ItemKind, OnFailure, OnStuck, Plan, Touches};
use windlass_domain::{
    BaseCase, Budget, Check, CheckProbe, CheckResult, Digest, ErrorCode, ErrorDetails, Expectation, Labels, Taint,
    TaskId, TreeId, UsageMetrics, Usd, Wall,
};

pub fn id(name: &str) -> AtomId {
    AtomId::parse(name).expect("a plain word")
}

pub fn item(name: &str) -> Item {
    Item {
        id: id(name),
        kind: ItemKind::Task,
        title: name.to_owned(),
        tasks: Vec::new(),
        depends_on: Vec::new(),
        any_of: None,
        speculative: false,
        needs_approval: true,
        agent: "executor".to_owned(),
        skills: Vec::new(),
        pattern: "generic".to_owned(),
        probe: false,
        interaction_mode: InteractionMode::ConfirmOnlyWhenRequired,
        budget: Budget::default(),
        plan_budget: windlass_domain::plan::PlanBudget::default(),
        verify: BaseCase::default(),
        gates: Vec::new(),
        touches: Touches::default(),
        input_artifacts_from: Vec::new(),
        follow_up_of: None,
        continuation_of: None,
        on_stuck: OnStuck::ConsultPlanner,
        on_failure: OnFailure::Report,
        escalation: BTreeMap::new(),
        schedule: None,
        timezone: None,
        failure_context: None,
        briefing: Briefing::default(),
    }
}

/// `name`, `name<a,b` after others, `name|g` a choice of g, `name@p` touching p.
fn written(text: &str) -> Item {
    let end = text.find(['<', '|', '@']).unwrap_or(text.len());
    let mut item = item(&text[..end]);
    let mut rest = &text[end..];
    while let Some(mark) = rest.chars().next() {
        let end = rest[1..].find(['<', '|', '@']).map_or(rest.len(), |at| at + 1);
        let words = &rest[1..end];
        match mark {
            '<' => item.depends_on = words.split(',').map(id).collect(),
            '|' => item.any_of = Some(id(words)),
            _ => item.touches.paths = words.split(',').map(str::to_owned).collect(),
        }
        rest = &rest[end..];
    }
    item
}

pub fn project(name: &str, tasks: Vec<Item>) -> Item {
    Item { kind: ItemKind::Project, tasks, ..item(name) }
}

pub fn plan(items: &str) -> Plan {
    Plan(project("all", items.split_whitespace().map(written).collect()))
}

pub fn task(number: u128) -> TaskId {
    TaskId::new(Wall::default(), number << 48)
}

pub fn tree(number: usize) -> TreeId {
    TreeId(Digest::of(&number.to_be_bytes()))
}

/// Somebody's work on `atom` has ended: with `tip` it is done, in attempts that were all counted when they began.
pub fn ended(atom: &AtomId, run: TaskId, tip: Option<TreeId>) -> AtomEnded {
    let binding = Binding { summary: atom.to_string(), artifacts: Vec::new(), files: Vec::new() };
    let failed = || AtomOutcome::Failed(ErrorDetails::new(ErrorCode::ChecksFailed, "no"));
    AtomEnded {
        atom: atom.clone(),
        run,
        outcome: tip.map_or_else(failed, |tip| AtomOutcome::Resolved { tip, binding }),
        attempts: 0,
        usage: UsageMetrics::default(),
        cost: Usd::ZERO,
        touched: Vec::new(),
        unpriced: false,
        verified: true,
        labels: Labels::default(),
        taint: Taint::Auth,
        salvaged: Vec::new(),
    }
}

/// A graph that is played, with everything it is told being asked of `decide` first.
pub struct Play {
    pub graph: GraphState,
    runs: u128,
    trees: usize,
}

impl Play {
    pub fn new() -> Self {
        Self { graph: GraphState::default(), runs: 0, trees: 0 }
    }

    pub fn approved(plan: Plan) -> Self {
        let mut play = Self::new();
        play.propose(plan);
        play.agree();
        play
    }

    pub fn act(&mut self, action: GraphAction) {
        let event = decide(&self.graph, action).expect("allowed");
        self.graph.apply(&event);
    }

    pub fn run(&mut self) -> TaskId {
        self.runs += 1;
        task(self.runs)
    }

    pub fn propose(&mut self, plan: Plan) {
        self.trees += 1;
        let base = self.graph.tip.unwrap_or_else(|| tree(0));
        self.act(GraphAction::Propose(Box::new(PlanProposed {
            revision: 1,
            by: Proposer::User,
            base,
            plan: Ok(plan),
            document: None,
            taint: Taint::Auth,
            remembered: Remembered::default(),
        })));
    }

    pub fn replan(&mut self, items: &str) {
        let (revision, run) = (self.graph.revision + 1, self.run());
        self.act(GraphAction::StartPlanner(PlannerStarted { revision, run, because: None, is_replan: true }));
        let (by, base) = (Proposer::Planner(run), tree(0));
        let plan = Ok(plan(items));
        let proposed = PlanProposed {
            revision,
            by,
            base,
            plan,
            document: None,
            taint: Taint::Auth,
            remembered: Remembered::default(),
        };
        self.act(GraphAction::Propose(Box::new(proposed)));
        self.agree();
    }

    pub fn review(&mut self, granted: bool) {
        let card = CardId::new(Wall::default(), 8);
        self.act(GraphAction::AskReview(ReviewAsked { card, why: "nothing is left".to_owned() }));
        assert_eq!(self.moves(), "", "a person is asked");
        self.act(GraphAction::AnswerReview(ReviewAnswered { granted, note: String::new() }));
    }

    pub fn agree(&mut self) {
        let revision = self.graph.revision;
        self.act(GraphAction::Ask(PlanAsked { revision, card: CardId::new(Wall::default(), 7) }));
        self.act(GraphAction::Answer(PlanAnswered { revision, answer: PlanAnswer::Approved }));
    }

    pub fn start(&mut self, atom: &str) -> TaskId {
        let run = self.run();
        self.act(GraphAction::StartAtom(AtomStarted { atom: id(atom), run }));
        run
    }

    pub fn end(&mut self, atom: &str, is_good: bool) {
        self.trees += 1;
        let tip = is_good.then(|| tree(self.trees));
        self.end_with(atom, tip);
    }

    /// It is done, and this is the work with it; or it failed.
    pub fn end_with(&mut self, atom: &str, tip: Option<TreeId>) {
        let run = self.graph.progress(&id(atom)).and_then(AtomProgress::running).expect("running");
        let ended = AtomEnded { attempts: 1, ..ended(&id(atom), run, tip) };
        self.act(GraphAction::EndAtom(Box::new(ended)));
    }

    /// The checks of the whole are made, and do not pass.
    pub fn look(&mut self) {
        if self.moves() == "?all" {
            let tip = self.graph.tip.expect("there is work");
            let result = CheckResult {
                name: "c".to_owned(),
                passed: false,
                reason: String::new(),
                exit_code: None,
                output: String::new(),
                full_output: None,
                tampered: Vec::new(),
            };
            self.act(GraphAction::CheckJoin(JoinChecked { atom: id("all"), tip, results: vec![result], report: None }));
        }
    }

    /// Somebody looks for smaller parts, and finds none.
    pub fn no_parts(&mut self, atom: &str) {
        let run = self.run();
        self.act(GraphAction::StartSplit(SplitStarted { atom: id(atom), run }));
        let (atom, reason, bill) = (id(atom), String::new(), Bill::default());
        self.act(GraphAction::EndSplit(Box::new(SplitEnded {
            atom,
            run,
            children: Vec::new(),
            reason,
            bill,
            taint: Taint::Auth,
        })));
    }

    /// Gives up the way that is to be given up.
    pub fn switch(&mut self) {
        let moves = next_moves(&self.graph, 8);
        let Some(GraphMove::Switch { group, failed, because }) = moves.into_iter().next() else {
            panic!("no way back")
        };
        let later = self.graph.without(&group, &failed, &[]).later;
        let kept = later.into_iter().map(|step| Merged { atom: step.atom, tip: step.after }).collect();
        self.act(GraphAction::Switch(Switch { group, failed, because, also: Vec::new(), kept }));
    }

    /// The moves, in a word each.
    pub fn moves(&self) -> String {
        let told = |next: &GraphMove| match next {
            GraphMove::StartPlanner { revision, is_replan: false, .. } => format!("plan{revision}"),
            GraphMove::StartPlanner { revision, .. } => format!("replan{revision}"),
            GraphMove::Ask { revision } => format!("ask{revision}"),
            GraphMove::StartAtom { atom } => format!("+{atom}"),
            GraphMove::CheckJoin { atom, .. } => format!("?{atom}"),
            GraphMove::Probe { atom, .. } => format!("look:{atom}"),
            GraphMove::Switch { group, failed, .. } => format!("{group}-{failed}"),
            GraphMove::Split { atom, .. } => format!("split:{atom}"),
            GraphMove::Reopen { sinks, .. } => {
                sinks.iter().map(|atom| format!("again:{atom}")).collect::<Vec<_>>().join(" ")
            }
            GraphMove::Dismiss => "dismiss".to_owned(),
            GraphMove::Apply { .. } => "apply".to_owned(),
            GraphMove::Complete => "complete".to_owned(),
            GraphMove::Escalate { .. } => "review".to_owned(),
            GraphMove::Fail(_) => "fail".to_owned(),
            GraphMove::Cancelled(_) => "cancelled".to_owned(),
        };
        next_moves(&self.graph, 8).iter().map(told).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn from_a_request_to_an_agreed_plan() {
    let mut play = Play::new();
    assert_eq!(play.moves(), "plan1");
    let run = play.run();
    let started = |revision, run, is_replan| PlannerStarted { revision, run, because: None, is_replan };
    play.act(GraphAction::StartPlanner(started(1, run, false)));
    assert_eq!(play.moves(), "", "it is being written");
    let proposed = |revision, run| {
        let plan = Ok(plan("a"));
        GraphAction::Propose(Box::new(PlanProposed {
            revision,
            by: Proposer::Planner(run),
            base: tree(0),
            plan,
            document: None,
            taint: Taint::Auth,
            remembered: Remembered::default(),
        }))
    };
    let stranger = decide(&play.graph, proposed(1, task(99)));
    assert!(matches!(stranger, Err(GraphRejected::OtherStanding)), "nobody else's plan");
    play.act(proposed(1, run));
    assert_eq!(play.moves(), "ask1");
    play.act(GraphAction::Ask(PlanAsked { revision: 1, card: CardId::new(Wall::default(), 7) }));
    assert_eq!(play.moves(), "", "a person has it");
    let note = PlanAnswer::EditRequested { note: "smaller".to_owned() };
    play.act(GraphAction::Answer(PlanAnswered { revision: 1, answer: note }));
    assert_eq!(play.moves(), "plan2");
    let run = play.run();
    play.act(GraphAction::StartPlanner(started(2, run, false)));
    play.act(proposed(2, run));
    play.agree();
    assert_eq!(play.moves(), "+a");
    assert_eq!(play.graph.replans_left(), 2, "what a person sent back is no failure");
}

#[test]
fn nothing_begins_under_a_plan_that_nobody_agreed_to() {
    let mut play = Play::new();
    play.propose(plan("a"));
    let begun = decide(&play.graph, GraphAction::StartAtom(AtomStarted { atom: id("a"), run: task(1) }));
    assert!(matches!(begun, Err(GraphRejected::OtherStanding)));
    play.act(GraphAction::Ask(PlanAsked { revision: 1, card: CardId::new(Wall::default(), 7) }));
    let declined = PlanAnswer::Declined { reason: "no".to_owned() };
    play.act(GraphAction::Answer(PlanAnswered { revision: 1, answer: declined }));
    assert_eq!(play.moves(), "fail");
}

#[test]
fn a_diamond() {
    let mut play = Play::approved(plan("a b<a c<a d<b,c"));
    assert_eq!(play.moves(), "+a");
    play.start("a");
    assert_eq!(play.moves(), "");
    play.end("a", true);
    assert_eq!(play.moves(), "+b +c");
    play.start("b");
    play.start("c");
    play.end("c", true);
    assert_eq!(play.moves(), "");
    play.end("b", true);
    assert_eq!(play.moves(), "+d");
    play.start("d");
    play.end("d", true);
    assert_eq!(play.moves(), "apply");
    let tip = play.graph.tip.unwrap();
    play.act(GraphAction::Apply(GraphApplied { tip, changed: 3, obeyed: Vec::new() }));
    assert_eq!(play.moves(), "complete");
}

/// Each may change any of what their project says, as far as anybody knows.
#[test]
fn the_items_of_a_project_that_touches_something_wait_for_each_other_and_for_others_that_touch_it() {
    let mut held = project("held", vec![written("a@x"), written("b@y")]);
    let moves =
        |held: &Item, beside: &str| Play::approved(Plan(project("all", vec![held.clone(), written(beside)]))).moves();
    assert_eq!(moves(&held, "c@src/lib.rs"), "+a +b +c");
    held.touches.paths = vec!["src".to_owned()];
    assert_eq!(moves(&held, "c@src/lib.rs"), "+a");
    assert_eq!(moves(&held, "c@docs"), "+a +c");
}

#[test]
fn what_touches_the_same_waits_and_places_are_few() {
    let play = Play::approved(plan("a@src b@src/x c@docs"));
    assert_eq!(play.moves(), "+a +c");
    let play = Play::approved(plan("a b c d e f g h i j"));
    assert_eq!(play.moves(), "+a +b +c +d +e +f +g +h");
}

#[test]
fn a_choice_that_fails_is_followed_by_the_next() {
    let mut play = Play::approved(plan("a|g b|g c<g"));
    assert_eq!(play.moves(), "+a");
    play.start("a");
    play.end("a", false);
    assert_eq!(play.moves(), "g-a");
    play.switch();
    assert_eq!(play.moves(), "+b");
    play.start("b");
    play.end("b", true);
    assert_eq!(play.moves(), "+c");
}

#[test]
fn failure_leads_to_another_plan_twice_and_then_to_the_end() {
    let mut play = Play::approved(plan("a b<a"));
    for revision in 2..=3 {
        play.start("a");
        play.end("a", false);
        assert_eq!(play.moves(), format!("replan{revision}"));
        play.replan("a b<a");
        assert_eq!(play.moves(), "+a");
    }
    play.start("a");
    play.end("a", false);
    assert_eq!(play.moves(), "review");
    play.review(true);
    assert_eq!(play.moves(), "replan4", "a person gave it one more");
    let mut given_up = play;
    given_up.replan("a b<a");
    given_up.start("a");
    given_up.end("a", false);
    assert_eq!(given_up.moves(), "review");
    given_up.review(false);
    assert_eq!(given_up.moves(), "fail");
}

#[test]
fn what_an_attempt_was_seen_to_change_keeps_others_from_it_while_the_item_is_worked_on() {
    let mut play = Play::approved(plan("a@src b@shared"));
    assert_eq!(play.moves(), "+a +b");
    let run = play.start("a");
    let seen = AtomObserved { atom: id("a"), run, paths: vec!["shared".to_owned()] };
    play.act(GraphAction::Observe(seen));
    assert_eq!(play.moves(), "");
    play.end("a", true);
    assert_eq!(play.moves(), "+b");
}

#[test]
fn what_holds_others_is_checked_on_their_work() {
    let check = Check {
        name: "c".to_owned(),
        probe: CheckProbe::Run { run: "make".to_owned(), expect: Expectation::ExitCode(0) },
        timeout_seconds: 1,
        network: false,
        protect: Vec::new(),
    };
    let Plan(mut root) = plan("a b");
    root.verify = BaseCase(vec![check]);
    let mut play = Play::approved(Plan(root));
    for atom in ["a", "b"] {
        play.start(atom);
        play.end(atom, true);
    }
    assert_eq!(play.moves(), "?all");
    let result = |passed| CheckResult {
        name: "c".to_owned(),
        passed,
        reason: String::new(),
        exit_code: None,
        output: String::new(),
        full_output: None,
        tampered: Vec::new(),
    };
    let tip = play.graph.tip.unwrap();
    let checked = |tip, passed| {
        GraphAction::CheckJoin(JoinChecked { atom: id("all"), tip, results: vec![result(passed)], report: None })
    };
    assert!(
        matches!(decide(&play.graph, checked(tree(0), true)), Err(GraphRejected::OtherTree)),
        "not on an older tree"
    );
    let mut failing = Play { graph: play.graph.clone(), ..Play::new() };
    failing.act(checked(tip, false));
    assert_eq!(failing.moves(), "again:a again:b", "what nothing else waits for decides what it comes to");
    play.act(checked(tip, true));
    assert_eq!(play.moves(), "apply");
}

fn checked_by(name: &str) -> BaseCase {
    let probe = CheckProbe::Run { run: name.to_owned(), expect: Expectation::ExitCode(0) };
    BaseCase(vec![Check { name: name.to_owned(), probe, timeout_seconds: 1, network: false, protect: Vec::new() }])
}

fn looked_at(play: &mut Play, atom: &str, passed: bool) {
    let tip = play.graph.tip.expect("there is work");
    let result = CheckResult {
        name: "c".to_owned(),
        passed,
        reason: String::new(),
        exit_code: None,
        output: String::new(),
        full_output: None,
        tampered: Vec::new(),
    };
    play.act(GraphAction::CheckJoin(JoinChecked { atom: id(atom), tip, results: vec![result], report: None }));
}

/// It was said to be verified though what came later had broken it.
#[test]
fn what_was_checked_before_others_changed_the_work_is_checked_again() {
    let Plan(mut root) = plan("a b c");
    for (item, check) in root.tasks.iter_mut().zip(["first", "second", "second"]) {
        item.verify = checked_by(check);
    }
    let mut play = Play::approved(Plan(root));
    for atom in ["a", "b", "c"] {
        play.start(atom);
        play.end(atom, true);
    }
    assert_eq!(play.moves(), "?a", "that of `b` was made on the same work, for `c`");
    let mut broken = Play { graph: play.graph.clone(), ..Play::new() };
    looked_at(&mut broken, "a", false);
    assert_eq!(broken.moves(), "again:a");
    looked_at(&mut play, "a", true);
    assert_eq!(play.moves(), "apply");
}

/// Nobody changed a file, and it was not looked at again: another plan at once, with attempts left.
#[test]
fn what_is_done_again_without_a_change_is_looked_at_again() {
    let Plan(mut root) = plan("a");
    root.verify = checked_by("all");
    let mut play = Play::approved(Plan(root));
    play.start("a");
    play.end("a", true);
    looked_at(&mut play, "all", false);
    assert_eq!(play.moves(), "again:a");
    let (holder, sinks) = (id("all"), vec![id("a")]);
    play.act(GraphAction::Reopen(SinksReopened { holder, sinks, because: String::new() }));
    play.start("a");
    play.end_with("a", play.graph.tip);
    assert_eq!(play.moves(), "?all");
}

/// Items that depend on earlier ones only, some of them choices, some touching the same.
fn some_plan() -> impl Strategy<Value = Plan> {
    let one = (prop::collection::vec(0..12_usize, 0..3), prop::option::of(0..3_u8), prop::option::of(0..3_u8));
    prop::collection::vec(one, 1..12).prop_map(|items| {
        let mut made: Vec<Item> = Vec::new();
        for (number, (after, group, path)) in items.into_iter().enumerate() {
            let mut item = item(&format!("i{number}"));
            item.any_of = group.map(|group| id(&format!("g{group}")));
            item.touches.paths = path.map(|path| format!("p{path}")).into_iter().collect();
            let is_earlier = |earlier: &&Item| earlier.any_of.is_none() || earlier.any_of != item.any_of;
            // A group is done when any of its choices is, so that a choice made later than this must not be waited for.
            let plain = made.iter().filter(|earlier| earlier.any_of.is_none()).filter(is_earlier);
            let plain: Vec<AtomId> = plain.map(|earlier| earlier.id.clone()).collect();
            item.depends_on = after.into_iter().filter_map(|at| plain.get(at).cloned()).collect();
            item.depends_on.sort();
            item.depends_on.dedup();
            made.push(item);
        }
        Plan(project("all", made))
    })
}

proptest! {
    /// Whatever fails and in which order things end, the play ends; nothing begins too early, twice, or beside what it would
    /// disturb; and complete means that everything needed is done.
    #[test]
    fn every_play_ends_and_keeps_the_rules(plan in some_plan(), dice in prop::collection::vec(any::<u8>(), 400)) {
        let mut play = Play::approved(plan.clone());
        let Plan(root) = &plan;
        let mut is_over = false;
        for die in dice {
            let running: Vec<String> = root.tasks.iter().filter(|item| play.graph.progress(&item.id).is_some_and(|progress| progress.running().is_some())).map(|item| item.id.to_string()).collect();
            let moves = next_moves(&play.graph, 3);
            let starts: Vec<AtomId> = moves.iter().filter_map(|next| match next { GraphMove::StartAtom { atom } => Some(atom.clone()), _ => None }).collect();
            prop_assert!(running.len() + starts.len() <= 3);
            if !running.is_empty() && (starts.is_empty() || die % 2 == 0) {
                play.end(&running[usize::from(die) % running.len()], die % 3 != 0);
                continue;
            }
            match moves.first() {
                Some(GraphMove::StartAtom { atom }) => {
                    let item = root.tasks.iter().find(|item| item.id == *atom).unwrap();
                    for name in &item.depends_on {
                        let before = root.tasks.iter().find(|item| item.id == *name).unwrap();
                        prop_assert!(play.graph.is_resolved(before), "{name} before {atom}");
                    }
                    for other in &running {
                        let other = root.tasks.iter().find(|item| item.id.as_str() == other).unwrap();
                        prop_assert!(!conflicts(&item.touches, &other.touches));
                    }
                    play.start(atom.as_str());
                }
                Some(GraphMove::StartPlanner { revision, is_replan, .. }) => {
                    let run = play.run();
                    let (revision, is_replan) = (*revision, *is_replan);
                    play.act(GraphAction::StartPlanner(PlannerStarted { revision, run, because: None, is_replan }));
                    let base = play.graph.tip.unwrap();
                    let proposed = PlanProposed { revision, by: Proposer::Planner(run), base, plan: Ok(plan.clone()), document: None, taint: Taint::Auth, remembered: Remembered::default() };
                    play.act(GraphAction::Propose(Box::new(proposed)));
                    play.agree();
                }
                Some(GraphMove::Apply { to, .. }) => play.act(GraphAction::Apply(GraphApplied { tip: *to, changed: 0, obeyed: Vec::new() })),
                Some(GraphMove::Complete) => {
                    prop_assert!(play.graph.is_resolved(play.graph.items()[0]));
                    is_over = true;
                    break;
                }
                Some(GraphMove::Switch { .. }) => play.switch(),
                Some(GraphMove::Escalate { .. }) => play.review(false),
                Some(GraphMove::Fail(_)) => {
                    prop_assert_eq!(play.graph.replans_left(), 0);
                    is_over = true;
                    break;
                }
                other => prop_assert!(false, "stuck at {other:?}"),
            }
        }
        prop_assert!(is_over, "no end in 400 steps");
    }
}
