//! Redirects: what a person changes is open again, the rest stays, and what contradicts itself is refused.

use windlass_domain::graph::{
    Addition, Bill, CannotCorrect, Change, Constraints, Corrected, Correction, GraphAction, GraphEvent, GraphRejected,
    JoinChecked, Merged, Objective, SplitEnded, SplitStarted, Standing, decide,
};
use windlass_domain::plan::{AtomId, Item, Plan};
use windlass_domain::{BaseCase, Budget, Check, CheckProbe, CheckResult, Expectation, Taint, Usd, Wall};

use crate::graph::{Play, id, item, plan};

fn objective(goal: &str) -> Objective {
    let check = Check {
        name: goal.to_owned(),
        probe: CheckProbe::Run { run: "make".to_owned(), expect: Expectation::ExitCode(0) },
        timeout_seconds: 1,
        network: false,
        protect: Vec::new(),
    };
    Objective {
        goal: goal.to_owned(),
        base_case: BaseCase(vec![check]),
        background_intent: String::new(),
        deliverables: String::new(),
        definition_of_done: String::new(),
        constraints: Constraints { max_iterations: None, probe_before_switch: false, ..Constraints::default() },
        words: String::new(),
    }
}

/// With the checks of the whole looked at, and not passed.
fn aligned(items: &str) -> Play {
    let mut play = Play::new();
    play.act(GraphAction::Align(Box::new(objective("first"))));
    play.propose(plan(items));
    play.agree();
    play.look();
    play
}

fn change(play: &Play, change: Change) -> Result<GraphAction, CannotCorrect> {
    let later = play.graph.without_changed(&change, &[])?.later;
    let kept = later.into_iter().map(|step| Merged { atom: step.atom, tip: step.after }).collect();
    let (at, description) = (Wall::default(), "as said".to_owned());
    Ok(GraphAction::Correct(Box::new(Correction {
        at,
        description,
        change,
        kept,
        also: Vec::new(),
        card: None,
        taint: None,
    })))
}

fn correct(play: &mut Play, wanted: Change) {
    let action = change(play, wanted).unwrap_or_else(|refused| panic!("{refused}"));
    play.act(action);
}

fn done(play: &mut Play, atoms: &[&str]) {
    for atom in atoms {
        play.start(atom);
        play.end(atom, true);
        play.look();
    }
}

fn graph(add: Vec<Addition>, drop: &[&str], select: &[(&str, &str)]) -> Change {
    let pairs = select.iter().map(|(group, choice)| (id(group), id(choice)));
    Change::Graph { add, drop: drop.iter().map(|atom| id(atom)).collect(), select: pairs.collect() }
}

fn merged(play: &Play) -> Vec<&str> {
    play.graph.merged().map(AtomId::as_str).collect()
}

#[test]
fn another_objective_opens_every_choice_and_keeps_what_rests_on_none() {
    let mut play = aligned("a b|g c|g d<g e<a");
    done(&mut play, &["a", "b", "d"]);
    let runner = play.start("e");
    correct(&mut play, Change::Objective { objective: Box::new(objective("second")) });
    assert!(play.graph.leaving.contains(&runner), "whoever is at work is interrupted");
    assert_eq!(merged(&play), ["a"]);
    assert!(play.graph.work.trail().is_empty());
    assert!(play.graph.corrections[0].trail_cleared);
    assert_eq!(play.moves(), "?all", "what is wanted now may be there already");
    play.look();
    assert_eq!(play.moves(), "+b", "whoever was sent away from e has not left");
}

#[test]
fn another_limit_changes_nothing_else() {
    let mut play = aligned("a b|g c|g d<g");
    done(&mut play, &["a", "b"]);
    let constraints = Constraints { max_iterations: Some(40), ..objective("first").constraints };
    correct(&mut play, Change::Constraints { constraints });
    play.look();
    assert_eq!((merged(&play), play.moves().as_str()), (vec!["a", "b"], "+d"));
    assert_eq!(play.graph.work.trail().len(), 1);
    assert_eq!(play.graph.work.constraints().max_iterations, Some(40));
}

#[test]
fn what_an_atom_came_to_is_put_right_and_only_what_rested_on_it_is_done_again() {
    let mut play = aligned("a b<a c d<b");
    done(&mut play, &["a", "b", "c"]);
    correct(&mut play, Change::Binding { atom: id("a"), summary: "it is in src/".to_owned() });
    play.look();
    assert_eq!((merged(&play), play.moves().as_str()), (vec!["a", "c"], "+b"));
    assert_eq!(play.graph.progress(&id("a")).unwrap().summary(), Some("it is in src/"));
    assert!(!play.graph.corrections[0].trail_cleared);
}

#[test]
fn atoms_come_and_go_and_a_choice_is_made_by_a_person() {
    let mut play = aligned("a b|g c|g d<g");
    done(&mut play, &["a", "b"]);
    let mut extra = item("extra");
    extra.depends_on = vec![id("a")];
    correct(&mut play, graph(vec![Addition { to: None, item: extra }], &[], &[("g", "c")]));
    play.look();
    assert_eq!((merged(&play), play.moves().as_str()), (vec!["a"], "+c +extra"));
    correct(&mut play, graph(Vec::new(), &["extra"], &[]));
    play.look();
    done(&mut play, &["c", "d"]);
    assert_eq!(play.moves(), "again:a again:d", "all is done, and the whole does not pass");
}

#[test]
fn a_graph_that_gave_up_goes_on_after_a_word() {
    let mut play = aligned("a");
    while play.moves() != "review" {
        match play.moves().as_str() {
            "+a" => {
                play.start("a");
                play.end("a", false);
            }
            "split:a" => play.no_parts("a"),
            other if other.starts_with("replan") => {
                play.replan("a");
                play.look();
            }
            other => panic!("{other}"),
        }
    }
    let constraints = Constraints { max_choices: 49, ..objective("first").constraints };
    correct(&mut play, Change::Constraints { constraints });
    play.look();
    assert_eq!(play.moves(), "+a", "it has everything it may use once more");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let mut play = aligned("a b|g c|g d<g");
    done(&mut play, &["a"]);
    let refused = |wanted: Change| change(&play, wanted).expect_err("refused");
    let add = |name: &str, to: Option<&str>, after: &[&str]| {
        let mut item = item(name);
        item.depends_on = after.iter().map(|atom| id(atom)).collect();
        graph(vec![Addition { to: to.map(id), item }], &[], &[])
    };
    let no_checks = Objective { base_case: BaseCase::default(), ..objective("none") };
    assert_eq!(refused(Change::Objective { objective: Box::new(no_checks) }), CannotCorrect::NoCheck);
    assert_eq!(refused(graph(Vec::new(), &["nobody"], &[])), CannotCorrect::NoSuchAtom(id("nobody")));
    assert_eq!(refused(graph(Vec::new(), &["all"], &[])), CannotCorrect::TheWhole);
    assert_eq!(refused(graph(Vec::new(), &["b"], &[])), CannotCorrect::NoChoiceLeft(id("b")));
    assert_eq!(refused(graph(Vec::new(), &[], &[("h", "b")])), CannotCorrect::NoSuchGroup(id("h")));
    let (group, choice) = (id("g"), id("a"));
    assert_eq!(refused(graph(Vec::new(), &[], &[("g", "a")])), CannotCorrect::NoSuchChoice { group, choice });
    assert_eq!(refused(add("a", None, &[])), CannotCorrect::NameTaken(id("a")));
    assert_eq!(refused(add("new", Some("a"), &[])), CannotCorrect::HoldsNothing(id("a")));
    let (atom, named) = (id("new"), id("nobody"));
    assert_eq!(refused(add("new", None, &["nobody"])), CannotCorrect::WaitsForNothing { atom, named });
    let binding = |atom: &str| Change::Binding { atom: id(atom), summary: String::new() };
    assert_eq!(refused(binding("d")), CannotCorrect::NotResolved(id("d")));
    let needed = Play::approved(plan("a b<a"));
    let (atom, by) = (id("a"), id("b"));
    let dropped = change(&needed, graph(Vec::new(), &["a"], &[])).expect_err("refused");
    assert_eq!(dropped, CannotCorrect::StillNeeded { atom, by });
}

/// Regression: the remedy that was named for it, to drop the other choice too, was refused as well.
#[test]
fn a_group_is_dropped_with_all_its_choices_or_keeps_two() {
    let mut play = aligned("a b|g c|g d");
    done(&mut play, &["b"]);
    correct(&mut play, graph(Vec::new(), &["b", "c"], &[]));
    play.look();
    assert_eq!((merged(&play), play.moves().as_str()), (vec![], "+a +d"));
    assert!(play.graph.work.groups().is_empty() && play.graph.work.trail().is_empty());
    let waited_for = aligned("a b|g c|g d<g");
    let dropped = change(&waited_for, graph(Vec::new(), &["b", "c"], &[])).expect_err("refused");
    assert!(matches!(dropped, CannotCorrect::StillNeeded { ref by, .. } if *by == id("d")), "{dropped}");
}

/// Regression: one on the last pass was signed for, and the objective failed at once.
#[test]
fn whoever_has_no_pass_left_is_not_redirected_but_to_more_of_them() {
    let mut play = aligned("a b<a");
    done(&mut play, &["a"]);
    let made = play.graph.passes.iteration;
    let constraints = |most: u32| Constraints { max_iterations: Some(most), ..objective("first").constraints };
    correct(&mut play, Change::Constraints { constraints: constraints(made + 1) });
    play.start("b");
    let none_left = CannotCorrect::NoPassLeft(made + 1);
    let said = Change::Binding { atom: id("a"), summary: "something else".to_owned() };
    assert_eq!(change(&play, said).expect_err("refused"), none_left);
    assert_eq!(
        change(&play, graph(vec![Addition { to: None, item: item("new") }], &[], &[])).expect_err("refused"),
        none_left
    );
    assert!(change(&play, Change::Constraints { constraints: constraints(made + 2) }).is_ok());
}

/// Regression: the same words once more undid what was done.
#[test]
fn what_is_so_already_is_no_change() {
    let play = aligned("a");
    let same = Change::Objective { objective: Box::new(objective("first")) };
    assert_eq!(change(&play, same).expect_err("refused"), CannotCorrect::SoAlready);
    let same = Change::Constraints { constraints: objective("first").constraints };
    assert_eq!(change(&play, same).expect_err("refused"), CannotCorrect::SoAlready);
}

/// As `graph::written` reads it, in `to`.
fn added(text: &str, to: Option<&str>) -> Change {
    let Plan(root) = plan(text);
    let add = root.tasks.into_iter().map(|item| Addition { to: to.map(id), item });
    graph(add.collect(), &[], &[])
}

/// `all` holds `d<a`, and `a` of which `b` is one part and one of `c|g` and `e|g` the other.
fn nested() -> Play {
    let Plan(mut root) = plan("a d<a f<g");
    let Plan(parts) = plan("b c|g e|g");
    root.tasks[0] = Item { tasks: parts.tasks, ..crate::graph::project("a", Vec::new()) };
    let mut play = Play::new();
    play.act(GraphAction::Align(Box::new(objective("first"))));
    play.propose(Plan(root));
    play.agree();
    play.look();
    play
}

#[test]
fn what_would_wait_for_itself_is_refused_with_the_circle_named() {
    let play = nested();
    let circle = |change_to: Change| match change(&play, change_to) {
        Err(CannotCorrect::Circle(names)) => names.iter().map(AtomId::as_str).collect::<Vec<_>>().join(" "),
        Err(other) => panic!("{other}"),
        Ok(_) => "none".to_owned(),
    };
    // By way of what holds it, of a group, of a choice of the same group, and of a choice that others wait for.
    assert_eq!(circle(added("new<d", Some("a"))), "new d a new");
    assert_eq!(circle(added("new<a", Some("a"))), "new a new");
    assert_eq!(circle(added("new|g<f", Some("a"))), "new f g new");
    assert_eq!(circle(added("new|g<c", Some("a"))), "new g new");
    assert_eq!(circle(added("new|g<d", Some("a"))), "new d a g new");
    // Two of which each is no circle.
    assert_eq!(circle(added("new<b newer<new", Some("a"))), "none");
    assert_eq!(circle(added("new<d,f,g", None)), "none");
    let refused = change(&play, added("new|g<f", Some("a"))).expect_err("refused").to_string();
    let sentence =
        "these would wait for each other for ever: `new` → `f` → `g` → `new`; leave out what one of them waits for";
    assert_eq!(refused, sentence);
}

/// It was two groups of one name, of which one had a single choice.
#[test]
fn a_choice_stands_beside_the_others_of_its_group() {
    let play = nested();
    let refused = |wanted: Change| change(&play, wanted).expect_err("refused");
    let (choice, group, holder) = (id("new"), id("g"), id("a"));
    assert_eq!(refused(added("new|g", None)), CannotCorrect::ChoiceElsewhere { choice, group, holder });
    assert_eq!(refused(added("new|d newer|d", None)), CannotCorrect::NameTaken(id("d")));
}

/// What was taken before there was a rule against it is folded as it was then.
#[test]
fn a_circle_of_an_older_journal_still_folds() {
    let mut play = nested();
    let corrected = Corrected {
        at: Wall::default(),
        description: "as said".to_owned(),
        change: added("new<d", Some("a")),
        trail_cleared: false,
        dismissed: Vec::new(),
        kept: Vec::new(),
        also: Vec::new(),
        card: None,
        taint: None,
    };
    play.graph.apply(&GraphEvent::Corrected(corrected));
    assert!(play.graph.work.find(&id("new")).is_some());
    correct(&mut play, graph(Vec::new(), &["new"], &[]));
    assert!(play.graph.work.find(&id("new")).is_none(), "and it can be put right");
}

#[test]
fn nothing_is_redirected_that_nobody_agreed_to() {
    let mut play = Play::new();
    let Plan(root) = plan("a");
    play.propose(Plan(root));
    let wanted = change(&play, graph(Vec::new(), &[], &[])).expect("it can be drawn");
    assert!(matches!(decide(&play.graph, wanted), Err(GraphRejected::OtherStanding)));
}

/// The whole was done, and stayed so whatever was changed: it was called verified by checks that nobody had made.
#[test]
fn the_whole_is_looked_at_again_after_every_change() {
    let mut play = aligned("a b");
    for atom in ["a", "b"] {
        play.look();
        play.start(atom);
        play.end(atom, true);
    }
    let tip = play.graph.tip.expect("there is work");
    let passed = CheckResult {
        name: "c".to_owned(),
        passed: true,
        reason: String::new(),
        exit_code: None,
        output: String::new(),
        full_output: None,
        tampered: Vec::new(),
    };
    play.act(GraphAction::CheckJoin(JoinChecked { atom: id("all"), tip, results: vec![passed], report: None }));
    assert_eq!(play.moves(), "apply");
    let constraints = Constraints { max_atoms: 9, ..Constraints::default() };
    correct(&mut play, Change::Constraints { constraints });
    assert_eq!(play.moves(), "?all");
}

/// It undid what was done, and tried what had failed once more.
#[test]
fn a_way_that_nobody_took_is_dropped_without_a_trace() {
    let mut play = aligned("a|g b|g c|g");
    play.start("a");
    play.end("a", false);
    for _ in 0..4 {
        if play.moves() == "+a" {
            play.start("a");
            play.end("a", false);
        }
    }
    play.switch();
    done(&mut play, &["b"]);
    correct(&mut play, graph(Vec::new(), &["c"], &[]));
    let standing = |atom: &str| play.graph.work.find(&id(atom)).map(|node| node.standing);
    assert_eq!(standing("b"), Some(Standing::Resolved));
    assert_eq!((standing("a"), standing("c")), (Some(Standing::Dropped), None));
}

/// With that, files that checks protect could be changed by a part that nobody had seen, and be called verified.
#[test]
fn what_parts_say_they_touch_is_not_agreed_to_by_changing_something_else() {
    let mut play = aligned("a");
    for _ in 0..9 {
        if play.moves() == "+a" {
            play.start("a");
            play.end("a", false);
        }
    }
    let run = play.run();
    play.act(GraphAction::StartSplit(SplitStarted { atom: id("a"), run }));
    let budget = Budget { max_tokens: 1, max_cost_usd: Usd::ZERO, ..item("a").budget };
    let mut children = ["one", "two"].map(|name| Item { budget: budget.clone(), ..item(name) });
    children[0].touches.paths = vec!["tests".to_owned()];
    let (atom, children, reason) = (id("a"), children.to_vec(), String::new());
    let (bill, taint) = (Bill::default(), Taint::Auth);
    let ended = |children| SplitEnded { atom, run, children, reason, bill, taint };
    play.act(GraphAction::EndSplit(Box::new(ended(children))));
    let agreed = |play: &Play| -> Vec<String> {
        let Plan(root) = play.graph.plan.clone().expect("a plan");
        root.all().iter().flat_map(|item| item.touches.paths.clone()).collect()
    };
    for max_atoms in [50, 60] {
        let constraints = Constraints { max_atoms, ..Constraints::default() };
        correct(&mut play, Change::Constraints { constraints });
        assert_eq!(agreed(&play), Vec::<String>::new());
    }
}
