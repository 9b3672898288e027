//! Drawings of a graph on its way, of a large one, and of one whose words mean harm.

use regex::Regex;
use windlass_domain::approval::CardId;
use windlass_domain::graph::{
    AtomEnded, AtomOutcome, AtomStarted, Binding, Chronicle, GraphAction, GraphMove, PlanAnswer, PlanAnswered,
    PlanAsked, PlanProposed, Proposer, Remembered, Switch, decide, next_moves,
};
use windlass_domain::plan::{AtomId, Item, ItemKind, Plan};
use windlass_domain::{Digest, ErrorCode, ErrorDetails, Labels, Taint, TaskId, TreeId, UsageMetrics, Usd, Wall};

use super::{Folding, Mark, Picture, meant, mermaid, svg, tree};
use crate::show::{Line, rows_of, width_of};
use crate::stands::Stands;

fn id(name: &str) -> AtomId {
    AtomId::parse(name).expect("a plain word")
}

fn item(name: &str, title: &str) -> Item {
    let Plan(item) = Plan::of_one(id(name), title.to_owned(), title.to_owned());
    item
}

fn after(names: &[&str], item: Item) -> Item {
    Item { depends_on: names.iter().map(|name| id(name)).collect(), ..item }
}

fn choice(group: &str, item: Item) -> Item {
    Item { any_of: Some(id(group)), ..item }
}

fn holding(item: Item, tasks: Vec<Item>) -> Item {
    Item { kind: ItemKind::Project, tasks, ..item }
}

/// A graph that is played, with everything it is told being asked of `decide` first.
struct Play {
    chronicle: Chronicle,
    steps: u64,
}

impl Play {
    fn new(parts: Vec<Item>) -> Self {
        let mut play = Self { chronicle: Chronicle::default(), steps: 0 };
        let plan = Ok(Plan(holding(item("all", "A shop for books"), parts)));
        let (by, base) = (Proposer::User, TreeId(Digest::of(b"0")));
        let proposed = PlanProposed {
            revision: 1,
            by,
            base,
            plan,
            document: None,
            taint: Taint::Auth,
            remembered: Remembered::default(),
        };
        play.act(GraphAction::Propose(Box::new(proposed)));
        play.act(GraphAction::Ask(PlanAsked { revision: 1, card: CardId::new(Wall::default(), 7) }));
        play.act(GraphAction::Answer(PlanAnswered { revision: 1, answer: PlanAnswer::Approved }));
        play
    }

    fn act(&mut self, action: GraphAction) {
        self.steps += 1;
        let event = decide(&self.chronicle.graph, action).expect("allowed");
        self.chronicle.apply(Wall::from_millis(self.steps * 1_000), &event);
    }

    fn start(&mut self, atom: &str) -> TaskId {
        let run = TaskId::new(Wall::default(), u128::from(self.steps) << 48);
        self.act(GraphAction::StartAtom(AtomStarted { atom: id(atom), run }));
        run
    }

    fn through(&mut self, atom: &str, said: Result<&str, &str>) {
        let run = self.start(atom);
        let outcome = match said {
            Ok(summary) => AtomOutcome::Resolved {
                tip: TreeId(Digest::of(&self.steps.to_be_bytes())),
                binding: Binding { summary: summary.to_owned(), artifacts: Vec::new(), files: Vec::new() },
            },
            Err(message) => AtomOutcome::Failed(ErrorDetails::new(ErrorCode::ChecksFailed, message)),
        };
        self.act(GraphAction::EndAtom(Box::new(AtomEnded {
            atom: id(atom),
            run,
            outcome,
            attempts: 2,
            usage: UsageMetrics::default(),
            cost: Usd::ZERO,
            touched: Vec::new(),
            unpriced: false,
            verified: true,
            labels: Labels::default(),
            taint: Taint::Auth,
            salvaged: Vec::new(),
        })));
    }

    fn switch(&mut self) {
        let next = next_moves(&self.chronicle.graph, 3).into_iter().next();
        let Some(GraphMove::Switch { group, failed, because }) = next else { panic!("{next:?}") };
        self.act(GraphAction::Switch(Switch { group, failed, because, also: Vec::new(), kept: Vec::new() }));
    }

    fn picture(&self) -> Picture {
        self.picture_while(Stands::Running)
    }

    /// Those who work for it stand so.
    fn picture_while(&self, stands: Stands) -> Picture {
        let present = self.chronicle.graph.running().into_iter().map(|run| (run, stands)).collect();
        Picture::of(&self.chronicle, &present).expect("there is a plan")
    }
}

fn shop() -> Play {
    let auth = holding(
        after(&["schema"], item("auth", "People can log in")),
        vec![
            choice("method", item("jwt", "With signed tokens that the browser keeps and sends back")),
            choice("method", item("session", "With sessions")),
            choice(
                "method",
                holding(item("magic", "With links in mails"), vec![item("mails", "Mails"), item("links", "Links")]),
            ),
            after(&["method"], item("logout", "And out again")),
        ],
    );
    let mut play = Play::new(vec![
        item("schema", "A table of users"),
        auth,
        item("pages", "The pages"),
        after(&["auth", "pages"], item("launch", "Bring them together")),
    ]);
    play.through("schema", Ok("users(id, name)"));
    play.through("jwt", Err("the tokens are not accepted: 401"));
    play.switch();
    play.start("session");
    play
}

fn shown(lines: &[Line], width: usize) -> String {
    lines.iter().flat_map(|line| rows_of(line, width)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_terminal_shows_what_is_done_at_work_given_up_and_what_waits() {
    let lines = tree(&shop().picture(), Folding::Folded);
    insta::assert_snapshot!(shown(&lines, 100), @"
    ├─ ✔ schema  A table of users  2 attempts
    ├─ ◐ auth    People can log in  all of these
    │  ├─ ◇ method  one of these, in this order: session is taken
    │  │  ├╌ ⊘ jwt      With signed tokens that th…  2 of 5 attempts used · the tokens are not accepte…
    │  │  ├╌ ▶ session  With sessions  1 of 5 attempts used
    │  │  └╌ ◌ magic    With links in mails  2 parts
    │  └─ ○ logout  And out again  after method
    ├─ ▷ pages   The pages
    └─ ○ launch  Bring them together  after auth, pages
    ✔ done  ▶ at work  ◐ in parts  ▷ next  ○ waits  ◌ another way  ⊘ given up
      ├─ all of these  ├╌ one of these
    ");
    let narrow = shown(&lines, 60);
    assert!(narrow.lines().all(|row| width_of(row) <= 60), "{narrow}");
    insta::assert_snapshot!(narrow, @"
    ├─ ✔ schema  A table of users  2 attempts
    ├─ ◐ auth    People can log in  all of these
    │  ├─ ◇ method  one of these, in this order: session is tak…
    │  │  ├╌ ⊘ jwt      With signed tokens that the browser
    │  │  ╎  keeps and send…
    │  │  ╎  2 of 5 attempts used · the tokens are not accepted:
    │  │  ╎  401
    │  │  ├╌ ▶ session  With sessions  1 of 5 attempts used
    │  │  └╌ ◌ magic    With links in mails  2 parts
    │  └─ ○ logout  And out again  after method
    ├─ ▷ pages   The pages
    └─ ○ launch  Bring them together  after auth, pages
    ✔ done  ▶ at work  ◐ in parts  ▷ next  ○ waits  ◌ another
      way  ⊘ given up
      ├─ all of these  ├╌ one of these
    ");
}

#[test]
fn each_stands_as_it_does() {
    let picture = shop().picture();
    let mark = |name: &str| picture.atoms().into_iter().find(|atom| atom.id == id(name)).expect(name).mark;
    let expected = [
        ("all", Mark::Open),
        ("schema", Mark::Done),
        ("auth", Mark::Open),
        ("jwt", Mark::GivenUp),
        ("session", Mark::Working),
        ("magic", Mark::Aside),
        ("mails", Mark::Aside),
        ("logout", Mark::Waiting),
        ("pages", Mark::Next),
        ("launch", Mark::Waiting),
    ];
    for (name, expected) in expected {
        assert_eq!(mark(name), expected, "{name}");
    }
}

#[test]
fn an_edge_into_a_choice_means_the_group_but_for_those_inside() {
    let chronicle = shop().chronicle;
    let check = |waits: &str, name: &str, expected: &str| {
        assert_eq!(meant(&chronicle.graph.work, &id(waits), &id(name)), id(expected), "{waits} {name}");
    };
    check("launch", "mails", "method");
    check("links", "mails", "mails");
    check("launch", "method", "method");
    check("launch", "auth", "auth");
}

#[test]
fn of_many_what_is_done_takes_a_line() {
    let name = |number: usize| format!("step-{number}");
    let mut play = Play::new((0..200).map(|number| item(&name(number), "One of many")).collect());
    for number in 0..150 {
        play.through(&name(number), Ok("done"));
    }
    let picture = play.picture();
    let (folded, all) = (tree(&picture, Folding::Folded), tree(&picture, Folding::All));
    assert_eq!((folded.len(), all.len()), (1 + 50 + 1, 200 + 1));
    assert!(shown(&folded[..1], 80).starts_with("├─ ✔ 150 done  step-0, step-1, "), "{}", shown(&folded[..1], 80));
    assert!(shown(&folded, 60).lines().all(|row| width_of(row) <= 60));
}

#[test]
fn a_plan_of_one_item_is_drawn_as_that_item() {
    let mut play = Play { chronicle: Chronicle::default(), steps: 0 };
    let (by, base) = (Proposer::User, TreeId(Digest::of(b"0")));
    let plan = Ok(Plan(item("mend", "Mend the parser")));
    let proposed = PlanProposed {
        revision: 1,
        by,
        base,
        plan,
        document: None,
        taint: Taint::Auth,
        remembered: Remembered::default(),
    };
    play.act(GraphAction::Propose(Box::new(proposed)));
    let picture = play.picture();
    assert_eq!(shown(&tree(&picture, Folding::Folded), 80), "▷ mend  Mend the parser\n▷ next");
    assert!(svg(&picture, "Mend").contains(">▷ mend</text>"));
    assert!(mermaid(&picture).contains("n0[\"▷ mend<br/>Mend the parser\"]:::next"));
}

#[test]
fn a_race_says_so() {
    let race = |name: &str| Item { speculative: true, ..choice("g", item(name, "One way")) };
    let mut play = Play::new(vec![race("a"), race("b")]);
    play.start("a");
    play.start("b");
    let picture = play.picture();
    let lines = shown(&tree(&picture, Folding::Folded), 80);
    assert!(lines.starts_with("└─ ◇ g  any of these, all at once\n   ├╌ ▶ a"), "{lines}");
    assert!(mermaid(&picture).contains("OR, all at once") && svg(&picture, "x").contains("OR, all at once g"));
}

/// What somebody would write who wants to be obeyed.
const HARM: &str = "\"]-->x[\"`**y**`\u{1b}[31m\u{7}</title></text><script>alert(1)</script> & ' #quot; ]]> \u{202e}\u{0}\nend\n%%{init}%%";

fn harmful() -> Picture {
    let inner = vec![choice("g", item("a", HARM)), choice("g", item("b", HARM))];
    let mut play = Play::new(vec![holding(item("end", HARM), inner), after(&["end"], item("graph", HARM))]);
    play.through("a", Err(HARM));
    play.switch();
    play.picture()
}

#[test]
fn words_cannot_leave_their_place_in_any_drawing() {
    let picture = harmful();
    let lines = shown(&tree(&picture, Folding::All), 200);
    assert!(!lines.contains(['\u{1b}', '\u{7}', '\u{202e}', '\0']), "{lines:?}");

    let drawing = svg(&picture, HARM);
    let tags = Regex::new(r#"</?(svg|title|style|defs|marker|path|rect|g|text)( [a-zA-Z-]+="[^"<>]*")*/?>"#)
        .expect("a pattern");
    let between = tags.replace_all(&drawing, "");
    assert!(!between.contains(['<', '>', '\u{1b}', '\0']), "{between}");
    let entity = Regex::new("&(amp|lt|gt|quot|#39);").expect("a pattern");
    assert!(!entity.replace_all(&drawing, "").contains('&'));
    let names: Vec<&str> = tags.captures_iter(&drawing).filter_map(|found| Some(found.get(1)?.as_str())).collect();
    assert!(names.contains(&"text") && names.len() > 20);

    let chart = mermaid(&picture);
    let text = "[^\"\\[\\]<>`{}|]*";
    let line = Regex::new(&format!(
        "^(flowchart LR| +n\\d+\\[\"{text}<br/>{text}\"\\]:::[a-z]+| +subgraph n\\d+\\[\"{text}\"\\]| +end| +n\\d+ -\\.?->? ?n?\\d*| +n\\d+ (-->|-\\.->) n\\d+|  classDef .*)$"
    ))
    .expect("a pattern");
    for row in chart.lines() {
        assert!(line.is_match(row), "{row}");
    }
    // The control: without its escapes the same words are what they say.
    assert!(!line.is_match(&format!("  n1[\"{}\"]:::done", HARM.lines().next().expect("a line"))));
}

/// Regression: what nobody was at any more was shown as being worked on.
#[test]
fn what_was_begun_is_at_work_only_while_somebody_is_at_it() {
    let play = shop();
    let shown = |stands: Stands| {
        let picture = play.picture_while(stands);
        let lines = tree(&picture, Folding::Folded);
        let rows: Vec<String> = lines.iter().flat_map(|line| rows_of(line, 200)).collect();
        let row = rows.iter().find(|row| row.contains("With sessions")).expect("the atom has a row");
        let legend = rows.last().expect("a legend");
        assert_eq!(legend.contains("at work"), stands == Stands::Running, "{legend}");
        (row.trim_start_matches(['│', '├', '╌', ' ']).chars().next().expect("a sign"), legend.clone())
    };
    for (stands, sign, word) in [
        (Stands::Running, '▶', "at work"),
        (Stands::Stopped, '‖', "stopped"),
        (Stands::Paused, '‖', "paused"),
        (Stands::Interrupted, '‖', "interrupted"),
        (Stands::Queued, '»', "queued"),
        (Stands::Answered, '»', "queued"),
    ] {
        let (seen, legend) = shown(stands);
        assert_eq!(seen, sign, "{stands:?}");
        assert!(legend.contains(word), "{word}: {legend}");
    }
}
