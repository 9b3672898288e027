//! `objective.md`: what is written is read as the same, however a graph came to stand and whatever is said in it.

use proptest::prelude::*;
use windlass_domain::approval::CardId;
use windlass_domain::graph::{
    AtomEnded, AtomOutcome, AtomStarted, Bill, Binding, Change, Chronicle, Constraints, Correction, GraphAction,
    GraphMove, JoinChecked, Merged, Objective, PlanAnswer, PlanAnswered, PlanAsked, PlanProposed, ProbeEnded,
    ProbeReport, ProbeStarted, Proposer, Remembered, SinksReopened, SplitEnded, SplitStarted, Standing, Switch, decide,
    next_moves,
};
use windlass_domain::plan::{AtomId, Item, ItemKind, Plan};
use windlass_domain::task::TaskStatus;
use windlass_domain::{
    BaseCase, Budget, Check, CheckProbe, CheckResult, Deliverable, DeliverableType, Digest, ErrorCode, ErrorDetails,
    Expectation, FileExpectation, Labels, Taint, TaskId, TreeId, UsageMetrics, Usd, Wall,
};
use windlass_plan::{ObjectiveFile, ObjectivePage, parse_objective, write_objective};

const AWKWARD: &[&str] = &[
    "Users can log in",
    "a: b",
    "- not a list",
    "# no comment",
    "one\n---\ntwo",
    "---",
    "...",
    "\"quoted\" and 'quoted' and \\ back",
    "null",
    "~",
    "yes",
    "3",
    "[a, {b: c}]",
    "first\n\n  indented\n\tand a tab\nlast",
    "ends with blanks  \nand goes on",
    "a\r\nb\rc",
    "bell \u{7} escape \u{1b}[31m red",
    "\u{85}\u{2028}\u{2029}\u{feff} gone",
    "👩🏽‍🔧 e\u{301} 漢字 \u{202e}drawkcab",
    "&anchor *alias !tag %directive @at `tick`",
    "> folded |",
    "x #y: z",
    "",
];

/// Numbers that look like chance, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % most as u64).expect("small")
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn text(&mut self) -> String {
        let number = 1 + self.below(2);
        let parts: Vec<&str> = (0..number).map(|_| AWKWARD[self.below(AWKWARD.len())]).collect();
        parts.join("\n").trim().to_owned()
    }

    fn check(&mut self, number: usize) -> Check {
        let run = "make test".to_owned();
        let run = |expect| CheckProbe::Run { run: run.clone(), expect };
        let file = |expect| CheckProbe::File { path: "a b/c.txt".to_owned(), expect };
        let probe = match self.below(9) {
            0 => run(Expectation::ExitCode(0)),
            1 => run(Expectation::ExitCode(3)),
            2 => run(Expectation::NonZero),
            3 => run(Expectation::Equals("a: \"b\"\n".to_owned())),
            4 => run(Expectation::OutputLt(0.125)),
            5 => run(Expectation::FileExists("out".to_owned())),
            6 => run(Expectation::Regex("^[a-c]+\\d$".to_owned())),
            7 => file(FileExpectation::Absent),
            _ => file(FileExpectation::NotEmpty),
        };
        let long = format!("{} / {} / {number}", "one group ".repeat(7).trim(), "another ".repeat(7).trim());
        Check {
            name: if self.one_in(3) { long } else { format!("\"check\": {number}") },
            probe,
            timeout_seconds: if self.one_in(2) { 600 } else { 30 },
            network: false,
            protect: if self.one_in(3) { vec!["tests".to_owned(), "a #b".to_owned()] } else { Vec::new() },
        }
    }

    fn checks(&mut self, most: usize) -> BaseCase {
        BaseCase((0..self.below(most + 1)).map(|number| self.check(number)).collect())
    }
}

fn id(name: &str) -> AtomId {
    AtomId::parse(name).expect("a plain word")
}

/// As the reader makes it of these words.
fn item(name: &str, words: &str) -> Item {
    let title = words.lines().next().unwrap_or_default().chars().take(200).collect();
    let Plan(item) = Plan::of_one(id(name), title, words.to_owned());
    item
}

/// Plans whose edges lead to what was written before.
struct Gardener<'a> {
    dice: &'a mut Dice,
    made: usize,
}

impl Gardener<'_> {
    fn parts(&mut self, depth: usize, before: &mut Vec<AtomId>) -> Vec<Item> {
        let mut parts = Vec::new();
        for _ in 0..=self.dice.below(3) {
            let choices = if self.dice.one_in(3) { 2 + self.dice.below(2) } else { 1 };
            let group = (choices > 1).then(|| id(&format!("g{}", self.made)));
            let is_speculative = self.dice.one_in(3);
            let made: Vec<Item> = (0..choices).map(|_| self.part(depth, before)).collect();
            for mut part in made {
                part.any_of.clone_from(&group);
                part.speculative = group.is_some() && is_speculative;
                before.extend(group.is_none().then(|| part.id.clone()));
                parts.push(part);
            }
            before.extend(group);
        }
        parts
    }

    fn part(&mut self, depth: usize, before: &[AtomId]) -> Item {
        self.made += 1;
        let mut part = item(&format!("{}a", self.made), &self.dice.text());
        if !before.is_empty() && self.dice.one_in(2) {
            part.depends_on.push(before[self.dice.below(before.len())].clone());
        }
        part.verify = self.dice.checks(1);
        part.probe = self.dice.one_in(5);
        part.budget = match self.dice.below(3) {
            0 => Budget { max_attempts: 1, max_cost_usd: Usd::from_nanos(1_234_567_891), ..Budget::default() },
            1 => Budget { max_attempts: 2, max_planner_calls: 0, ..Budget::default() },
            _ => Budget::default(),
        };
        if self.dice.one_in(3) {
            part.touches.paths = vec!["src/a b".to_owned(), "c: d".to_owned()];
            part.skills = vec!["null".to_owned(), "a.b/c".to_owned()];
            part.agent = "claude-code".to_owned();
        }
        if depth < 2 && self.dice.one_in(4) {
            part.tasks = self.parts(depth + 1, &mut before.to_vec());
            part.kind = ItemKind::Project;
        }
        part
    }
}

fn objective(dice: &mut Dice) -> Objective {
    let constraints = Constraints {
        max_iterations: Some(200),
        max_stall_count: 1 + u32::try_from(dice.below(9)).expect("small"),
        max_choices: 1_000,
        max_atoms: 1_000,
        probe_before_switch: dice.one_in(2),
        ..Constraints::default()
    };
    let mut base_case = dice.checks(2);
    base_case.0.push(dice.check(9));
    Objective {
        goal: dice.text(),
        base_case,
        background_intent: dice.text(),
        deliverables: dice.text(),
        definition_of_done: dice.text(),
        constraints,
        words: dice.text().trim().to_owned(),
    }
}

/// A graph that is played, and told at every step.
struct Game {
    dice: Dice,
    chronicle: Chronicle,
    steps: u64,
}

fn tree(number: u64) -> TreeId {
    TreeId(Digest::of(&number.to_be_bytes()))
}

impl Game {
    fn new(dice: Dice, objective: Objective, plan: Plan) -> Self {
        let mut game = Self { dice, chronicle: Chronicle::default(), steps: 0 };
        game.act(GraphAction::Align(Box::new(objective)));
        let (by, base, plan) = (Proposer::User, tree(0), Ok(plan));
        let proposed = PlanProposed {
            revision: 1,
            by,
            base,
            plan,
            document: None,
            taint: Taint::Auth,
            remembered: Remembered::default(),
        };
        game.act(GraphAction::Propose(Box::new(proposed)));
        game.act(GraphAction::Ask(PlanAsked { revision: 1, card: CardId::new(Wall::default(), 7) }));
        game.act(GraphAction::Answer(PlanAnswered { revision: 1, answer: PlanAnswer::Approved }));
        game
    }

    fn act(&mut self, action: GraphAction) {
        let told = format!("{action:?}");
        self.steps += 1;
        let event = decide(&self.chronicle.graph, action).unwrap_or_else(|refused| panic!("{refused}: {told}"));
        self.chronicle.apply(Wall::from_millis(1_700_000_000_000 + self.steps * 1_000), &event);
    }

    fn run(&self) -> TaskId {
        TaskId::new(Wall::default(), u128::from(self.steps) << 48)
    }

    fn kept(&mut self, later: Vec<windlass_domain::graph::Step>) -> Vec<Merged> {
        later.into_iter().map(|step| Merged { atom: step.atom, tip: step.after }).collect()
    }

    /// Whether there was anything to do.
    fn step(&mut self) -> bool {
        let busy: Vec<(AtomId, Standing)> =
            self.chronicle.graph.work.busy().map(|node| (node.id().clone(), node.standing)).collect();
        if !busy.is_empty() && self.dice.one_in(2) {
            let (atom, standing) = busy[self.dice.below(busy.len())].clone();
            self.end(&atom, standing);
            return true;
        }
        if self.dice.one_in(12) && self.redirect() {
            return true;
        }
        let moves = next_moves(&self.chronicle.graph, 3);
        match moves.into_iter().next() {
            Some(next) => self.make(next),
            None => match busy.into_iter().next() {
                Some((atom, standing)) => {
                    self.end(&atom, standing);
                    true
                }
                None => false,
            },
        }
    }

    fn make(&mut self, next: GraphMove) -> bool {
        let run = self.run();
        let action = match next {
            GraphMove::StartAtom { atom } => GraphAction::StartAtom(AtomStarted { atom, run }),
            GraphMove::Probe { atom, choice } => GraphAction::StartProbe(ProbeStarted { atom, run, choice }),
            GraphMove::Split { atom, .. } => GraphAction::StartSplit(SplitStarted { atom, run }),
            GraphMove::Reopen { holder, sinks } => {
                GraphAction::Reopen(SinksReopened { holder, sinks, because: self.dice.text() })
            }
            GraphMove::Switch { group, failed, .. } => {
                let later = self.chronicle.graph.without(&group, &failed, &[]).later;
                let (because, kept) = (self.dice.text(), self.kept(later));
                GraphAction::Switch(Switch { group, failed, because, also: Vec::new(), kept })
            }
            GraphMove::CheckJoin { atom, tip } => {
                let number = self.chronicle.graph.work.item(&atom).map_or(0, |item| item.verify.0.len());
                let passed = self.dice.one_in(8);
                let result = CheckResult {
                    name: "c".to_owned(),
                    passed,
                    reason: String::new(),
                    exit_code: None,
                    output: String::new(),
                    full_output: None,
                    tampered: Vec::new(),
                };
                GraphAction::CheckJoin(JoinChecked { atom, tip, results: vec![result; number], report: None })
            }
            _ => return false,
        };
        self.act(action);
        true
    }

    fn end(&mut self, atom: &AtomId, standing: Standing) {
        let (atom, bill) = (atom.clone(), Bill::default());
        let action = match standing {
            Standing::Running(run) => GraphAction::EndAtom(Box::new(self.ended(atom, run))),
            Standing::Probing(run) => {
                let report =
                    ProbeReport { feasible: !self.dice.one_in(3), findings: self.dice.text(), cost_estimate: None };
                GraphAction::EndProbe(ProbeEnded { atom, run, report, bill, taint: Taint::Auth })
            }
            Standing::Splitting(run) => {
                let parent = self.chronicle.graph.work.item(&atom).expect("it is there").clone();
                let child = |number: usize| {
                    let name = format!("{}-{}p{number}", self.steps, atom.as_str());
                    let part = item(&name[..name.len().min(60)], AWKWARD[number]);
                    let budget = Budget {
                        max_tokens: parent.budget.max_tokens / 2,
                        max_cost_usd: Usd::from_nanos(parent.budget.max_cost_usd.as_nanos() / 2),
                        ..parent.budget.clone()
                    };
                    let (agent, touches) = (parent.agent.clone(), parent.touches.clone());
                    Item { budget, agent, touches, ..part }
                };
                let children = if self.dice.one_in(4) { Vec::new() } else { vec![child(0), child(1)] };
                let reason = self.dice.text();
                GraphAction::EndSplit(Box::new(SplitEnded { atom, run, children, reason, bill, taint: Taint::Auth }))
            }
            other => panic!("{other:?} is not busy"),
        };
        self.act(action);
    }

    fn ended(&mut self, atom: AtomId, run: TaskId) -> AtomEnded {
        let artifact = Deliverable {
            filepath: "output/a b".to_owned(),
            description: self.dice.text(),
            kind: DeliverableType::Report,
            content: None,
            size_bytes: None,
        };
        let binding = Binding { summary: self.dice.text(), artifacts: vec![artifact], files: Vec::new() };
        let outcome = match self.dice.one_in(2) {
            true => AtomOutcome::Resolved { tip: tree(self.steps), binding },
            false => AtomOutcome::Failed(ErrorDetails::new(ErrorCode::ChecksFailed, "no")),
        };
        AtomEnded {
            atom,
            run,
            outcome,
            attempts: 1,
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

    /// A person changes something, if it can be changed.
    fn redirect(&mut self) -> bool {
        let nodes: Vec<Item> = self.chronicle.graph.work.nodes().iter().map(|node| node.item.clone()).collect();
        let any = &nodes[self.dice.below(nodes.len())];
        let change = match &any.any_of {
            Some(group) => {
                let select = vec![(group.clone(), any.id.clone())];
                Change::Graph { add: Vec::new(), drop: Vec::new(), select }
            }
            None => Change::Binding { atom: any.id.clone(), summary: self.dice.text() },
        };
        let Ok(replay) = self.chronicle.graph.without_changed(&change, &[]) else { return false };
        let kept = self.kept(replay.later);
        let (at, description) = (Wall::from_millis(1_700_000_000_000), self.dice.text());
        let correction = GraphAction::Correct(Box::new(Correction {
            at,
            description,
            change,
            kept,
            also: Vec::new(),
            card: None,
            taint: None,
        }));
        let is_allowed = decide(&self.chronicle.graph, correction.clone()).is_ok();
        if is_allowed {
            self.act(correction);
        }
        is_allowed
    }

    fn page(&self) -> String {
        write_objective(&ObjectivePage {
            chronicle: &self.chronicle,
            status: Some(TaskStatus::Running),
            stopped: None,
            is_redirected: false,
            as_of: Wall::from_millis(1_700_000_000_000),
        })
    }
}

fn read(page: &str) -> ObjectiveFile {
    parse_objective(page).unwrap_or_else(|problems| panic!("{problems}\n{page}"))
}

/// Whatever holds others is a project to a reader, also where it came to hold them on the way.
fn as_read(mut item: Item) -> Item {
    item.tasks = item.tasks.into_iter().map(as_read).collect();
    if !item.tasks.is_empty() {
        item.kind = ItemKind::Project;
    }
    item
}

fn sorted<T: Ord>(mut of: Vec<T>) -> Vec<T> {
    of.sort();
    of
}

fn assert_reads_back(game: &Game) {
    let (graph, page) = (&game.chronicle.graph, game.page());
    let file = read(&page);
    assert_eq!(Some(&file.objective), graph.objective.as_ref(), "{page}");
    let Plan(tree) = graph.work.plan().expect("there is a graph");
    assert_eq!(file.plan.0.tasks, as_read(tree).tasks, "{page}");
    let memory = graph.work.memory();
    assert_eq!(sorted(file.selected), sorted(memory.selected), "{page}");
    assert_eq!(sorted(file.failed), sorted(memory.failed), "{page}");
    let done = graph.work.nodes().iter().filter(|node| node.is_leaf() && node.is_resolved());
    let summary = |atom: &AtomId| graph.progress(atom).and_then(|progress| progress.summary()).expect("it was done");
    let expected = done.map(|node| (node.id().clone(), summary(node.id()).trim().to_owned())).collect();
    let resolved = file.resolved.into_iter().map(|(atom, binding)| (atom, binding.summary)).collect();
    assert_eq!(sorted::<(AtomId, String)>(resolved), sorted(expected), "{page}");
    let strange: Vec<_> = file.warnings.iter().filter(|warning| warning.message.contains("means nothing")).collect();
    assert!(strange.is_empty(), "{strange:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_graph_reads_back_as_it_stands(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let agreed = objective(&mut dice);
        let mut root = item("objective", "");
        root.kind = ItemKind::Project;
        root.tasks = Gardener { dice: &mut dice, made: 0 }.parts(0, &mut Vec::new());
        let mut game = Game::new(dice, agreed, Plan(root));
        assert_reads_back(&game);
        for _ in 0..60 {
            if !game.step() {
                break;
            }
            assert_reads_back(&game);
        }
    }
}

#[test]
fn a_zero_byte_becomes_its_picture() {
    let mut dice = Dice(1);
    let agreed = Objective { goal: "a\0b".to_owned(), ..objective(&mut dice) };
    let mut root = item("objective", "");
    root.tasks = vec![item("a", "first"), item("b", "second")];
    let game = Game::new(dice, agreed, Plan(root));
    assert_eq!(read(&game.page()).objective.goal, "a␀b");
}

/// Written by hand from the contract, before there was anything that writes one.
const BY_HAND: &str = include_str!("../fixtures/objective.md");

#[test]
fn what_a_person_wrote_is_written_again_and_means_the_same() {
    let by_hand = read(BY_HAND);
    let mut game = Game::new(Dice(1), by_hand.objective.clone(), by_hand.plan.clone());
    let first = read(&game.page());
    assert_eq!(first.objective, by_hand.objective);
    assert_eq!(first.plan, by_hand.plan);
    assert_eq!(by_hand.objective.words.lines().count(), 5, "a rule among the words is one of them");
    // As far as the file says that it had come.
    game.look();
    game.through("format", Some("Front matter with `kind` and `author`, then one paragraph."));
    game.through("script", None);
    game.look_at_next();
    game.make_next();
    game.start("program");
    let later = read(&game.page());
    assert_eq!(later.resolved, by_hand.resolved);
    assert_eq!((later.selected, later.failed), (by_hand.selected, by_hand.failed));
}

#[test]
fn what_is_written_is_what_a_person_would_read() {
    let by_hand = read(BY_HAND);
    let agreed = Objective { words: "Ask Ana.".to_owned(), ..by_hand.objective };
    let mut game = Game::new(Dice(1), agreed, by_hand.plan);
    game.look();
    game.through("format", Some("Front matter, then: one paragraph."));
    game.through("script", None);
    game.look_at_next();
    game.make_next();
    game.start("program");
    assert_eq!(game.page(), include_str!("../fixtures/written.md"), "{}", game.page());
}

impl Game {
    fn start(&mut self, atom: &str) {
        self.look();
        let run = self.run();
        self.act(GraphAction::StartAtom(AtomStarted { atom: id(atom), run }));
    }

    /// Begun, and done with this summary or failed for good.
    fn through(&mut self, atom: &str, summary: Option<&str>) {
        self.start(atom);
        let standing = self.chronicle.graph.work.find(&id(atom)).expect("it is there").standing;
        let Standing::Running(run) = standing else { panic!("{standing:?}") };
        let outcome = match summary {
            Some(summary) => AtomOutcome::Resolved {
                tip: tree(self.steps),
                binding: Binding { summary: summary.to_owned(), artifacts: Vec::new(), files: Vec::new() },
            },
            None => AtomOutcome::Failed(ErrorDetails::new(ErrorCode::ChecksFailed, "quoting: it went wrong")),
        };
        let ended = AtomEnded { outcome, attempts: 5, ..self.ended(id(atom), run) };
        self.act(GraphAction::EndAtom(Box::new(ended)));
    }

    /// The checks of the whole are made, and do not pass.
    fn look(&mut self) {
        if let Some(GraphMove::CheckJoin { atom, tip }) = next_moves(&self.chronicle.graph, 3).into_iter().next() {
            let failed = CheckResult {
                name: "c".to_owned(),
                passed: false,
                reason: String::new(),
                exit_code: None,
                output: String::new(),
                full_output: None,
                tampered: Vec::new(),
            };
            let number = self.chronicle.graph.work.item(&atom).map_or(0, |item| item.verify.0.len());
            self.act(GraphAction::CheckJoin(JoinChecked { atom, tip, results: vec![failed; number], report: None }));
        }
    }

    /// Somebody looks whether the next way can be gone, and says yes.
    fn look_at_next(&mut self) {
        let next = next_moves(&self.chronicle.graph, 3).into_iter().next();
        let Some(GraphMove::Probe { atom, choice }) = next else { panic!("{next:?}") };
        let run = self.run();
        self.act(GraphAction::StartProbe(ProbeStarted { atom: atom.clone(), run, choice }));
        let report = ProbeReport { feasible: true, findings: "it can".to_owned(), cost_estimate: None };
        let (bill, taint) = (Bill::default(), Taint::Auth);
        self.act(GraphAction::EndProbe(ProbeEnded { atom, run, report, bill, taint }));
    }

    fn make_next(&mut self) {
        let next = next_moves(&self.chronicle.graph, 3).into_iter().next();
        let Some(GraphMove::Switch { group, failed, because }) = next else { panic!("{next:?}") };
        let later = self.chronicle.graph.without(&group, &failed, &[]).later;
        let kept = self.kept(later);
        self.act(GraphAction::Switch(Switch { group, failed, because, also: Vec::new(), kept }));
    }
}
