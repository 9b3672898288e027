//! What nothing is decided by is told all the same: when a way was taken, and why.

use windlass_domain::graph::{
    AtomStarted, Change, Chronicle, Constraints, Corrected, Correction, GraphAction, GraphEvent, Merged, PlanAnswer,
    PlanAnswered, PlannerCharged, Turn, Why, decide,
};
use windlass_domain::{TaskId, UsageMetrics, Usd, Wall};

use crate::graph::{Play, id, plan};

/// Plays on `play`, and tells it second by second.
struct Told {
    play: Play,
    chronicle: Chronicle,
    seconds: u64,
}

impl Told {
    fn new(items: &str) -> Self {
        let play = Play::approved(plan(items));
        let mut chronicle = Chronicle::default();
        chronicle.graph = play.graph.clone();
        Self { play, chronicle, seconds: 0 }
    }

    fn act(&mut self, action: GraphAction) {
        let event = decide(&self.play.graph, action.clone()).expect("allowed");
        self.seconds += 1;
        self.chronicle.apply(Wall::from_millis(self.seconds * 1_000), &event);
        self.play.act(action);
    }

    fn fail(&mut self, atom: &str) {
        self.start(atom);
        self.play.end(atom, false);
        self.chronicle.graph = self.play.graph.clone();
    }

    fn start(&mut self, atom: &str) {
        let run = self.play.run();
        self.act(GraphAction::StartAtom(windlass_domain::graph::AtomStarted { atom: id(atom), run }));
    }

    fn switch(&mut self, group: &str, failed: &str, because: &str) {
        let (group, failed, because) = (id(group), id(failed), because.to_owned());
        let later = self.play.graph.without(&group, &failed, &[]).later;
        let kept = later.into_iter().map(|step| Merged { atom: step.atom, tip: step.after }).collect();
        let switch = windlass_domain::graph::Switch { group, failed, because, also: Vec::new(), kept };
        self.act(GraphAction::Switch(switch));
    }

    fn taken(&self) -> Vec<(&str, u64, &Why)> {
        let turn = |taken: &Turn| taken.choice.clone();
        assert_eq!(
            self.chronicle.taken.iter().map(|taken| turn(&taken.turn)).collect::<Vec<_>>(),
            self.play.graph.work.trail().iter().map(turn).collect::<Vec<_>>(),
            "what is told is what is on the trail"
        );
        let told = self.chronicle.taken.iter();
        told.map(|taken| (taken.turn.choice.as_str(), taken.at.as_millis() / 1_000, &taken.why)).collect()
    }
}

#[test]
fn a_way_is_taken_because_it_is_the_first_and_later_because_another_failed() {
    let mut told = Told::new("a|g b|g c|h d|h");
    told.start("c");
    told.fail("a");
    assert_eq!(told.taken(), [("c", 1, &Why::First), ("a", 2, &Why::First)]);
    told.switch("g", "a", "a: it does not compile");
    assert_eq!(told.taken(), [("c", 1, &Why::First)], "a is not taken any more");
    told.start("b");
    let why = Why::After { failed: id("a"), because: "it does not compile".to_owned() };
    assert_eq!(told.taken(), [("c", 1, &Why::First), ("b", 4, &why)]);
    assert_eq!(told.chronicle.given_up[0].at, Wall::from_millis(3_000));
}

#[test]
fn a_way_that_a_person_wants_is_taken_because_they_said_so() {
    let mut told = Told::new("a|g b|g");
    told.start("a");
    let change = Change::Graph { add: Vec::new(), drop: Vec::new(), select: vec![(id("g"), id("b"))] };
    let (at, description) = (Wall::default(), "sessions are enough".to_owned());
    told.act(GraphAction::Correct(Box::new(Correction {
        at,
        description,
        change,
        kept: Vec::new(),
        also: Vec::new(),
        card: None,
        taint: None,
    })));
    assert_eq!(told.taken(), [("b", 2, &Why::Person("sessions are enough".to_owned()))]);
}

/// The worst case that a person agrees to is from there on: what was used before, and by those whom a change sent away, is another's.
#[test]
fn what_was_used_counts_from_the_last_agreement_on() {
    let mut chronicle = Chronicle::default();
    let run = |number: u128| TaskId::new(Wall::default(), number << 64);
    let starts = |number| GraphEvent::AtomStarted(AtomStarted { atom: id("a"), run: run(number) });
    let pays = |number, total_tokens| {
        let usage = UsageMetrics { total_tokens, ..UsageMetrics::default() };
        GraphEvent::PlannerCharged(PlannerCharged { run: run(number), usage, cost: Usd::ZERO, unpriced: false })
    };
    let agrees = GraphEvent::PlanAnswered(PlanAnswered { revision: 1, answer: PlanAnswer::Approved });
    let changes = GraphEvent::Corrected(Corrected {
        at: Wall::default(),
        description: String::new(),
        change: Change::Constraints { constraints: Constraints::default() },
        trail_cleared: false,
        dismissed: vec![run(2)],
        kept: Vec::new(),
        also: Vec::new(),
        card: None,
        taint: None,
    });
    let steps = [
        (pays(1, 100), (0, 100)),
        (agrees, (0, 0)),
        (starts(2), (1, 0)),
        (pays(3, 10), (1, 10)),
        (changes, (0, 0)),
        (pays(2, 50), (0, 0)),
        (starts(4), (1, 0)),
        (pays(4, 7), (1, 7)),
        (pays(4, 2), (1, 9)),
    ];
    for (number, (event, expected)) in steps.iter().enumerate() {
        chronicle.apply(Wall::default(), event);
        let (attempts, bill) = chronicle.used();
        assert_eq!((attempts, bill.usage.total_tokens), *expected, "step {number}");
    }
    assert!(!chronicle.is_unbilled(&run(2)) && !chronicle.is_unbilled(&run(4)) && chronicle.is_unbilled(&run(5)));
}
