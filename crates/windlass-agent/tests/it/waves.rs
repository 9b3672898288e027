//! Calls of one answer: read-only neighbours run side by side, and what changes something runs alone, between those that
//! were asked for before it and those after.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use serde_json::{Value, json};
use windlass_domain::execution::Outcome;
use windlass_domain::{BoxFuture, CancelSignal, Effect, Host, Message, Permit, Prepared, Reach, ToolSpec};
use windlass_tools::{Context, Output, Running, Tool};

use crate::support::run;

/// Where calls meet, and what happened in which order.
#[derive(Clone, Default)]
struct Place {
    inside: Arc<Mutex<Inside>>,
}

#[derive(Default)]
struct Inside {
    arrived: usize,
    waiting: Vec<Waker>,
    notes: Vec<String>,
}

impl Place {
    fn note(&self, text: String) {
        self.inside.lock().expect("one thread").notes.push(text);
    }

    /// Comes in, and stays until there is a second; nothing else lets it out but the end of the run's time.
    async fn meet(&self, cancel: CancelSignal) -> bool {
        let pair = self.come_in().next_multiple_of(2);
        self.stay(pair, cancel).await
    }

    fn come_in(&self) -> usize {
        let mut inside = self.inside.lock().expect("one thread");
        inside.arrived += 1;
        std::mem::take(&mut inside.waiting).into_iter().for_each(Waker::wake);
        inside.arrived
    }

    /// Until so many have come.
    async fn stay(&self, pair: usize, cancel: CancelSignal) -> bool {
        let mut stopped = cancel.wait();
        poll_fn(|context| {
            let mut inside = self.inside.lock().expect("one thread");
            if inside.arrived >= pair {
                return Poll::Ready(true);
            }
            inside.waiting.push(context.waker().clone());
            Pin::new(&mut stopped).poll(context).map(|_| false)
        })
        .await
    }
}

/// More than may run side by side.
const MANY: usize = 60;

/// `look` reads and needs company; `change` changes something, in two steps; `glance` reads and goes; `wait` reads until many
/// have been there.
struct Visitor {
    name: &'static str,
    effect: Effect,
    place: Place,
}

impl Tool for Visitor {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({"type": "object"});
        ToolSpec { name: self.name.to_owned(), description: "Visits.".to_owned(), parameters }
    }

    fn prepare(&self, _: &Value, _: &Context) -> Result<Prepared, String> {
        Ok(Prepared::new(self.effect.clone(), Reach::Context))
    }

    fn run<'a>(&'a self, permit: Permit, _: &'a Context, running: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            let id = permit.redeem().call.call_id.0;
            self.place.note(format!("{id} begins"));
            let met = match (self.name, &self.effect) {
                ("wait", _) => {
                    self.place.come_in();
                    self.place.stay(MANY, running.cancel).await
                }
                ("glance", _) => {
                    self.place.come_in();
                    step_aside().await
                }
                (_, Effect::Read) => self.place.meet(running.cancel).await,
                _ => step_aside().await,
            };
            self.place.note(format!("{id} ends"));
            Output::ok(if met { "met" } else { "alone" })
        })
    }
}

/// Time enough for others to do something wrong.
async fn step_aside() -> bool {
    let mut stepped = false;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut stepped, true) { Poll::Ready(true) } else { Poll::Pending }
    })
    .await
}

struct Played {
    /// The ids of the calls for which leave was asked together.
    waves: Vec<Vec<String>>,
    notes: Vec<String>,
    results: Vec<String>,
}

/// Lets the model ask for these tools in one answer. Ids are `w00000000`, `w00000001` and so on.
fn play(tools: &[&str]) -> Played {
    let calls = tools.iter().map(|tool| format!("{{tool: {tool}}}")).collect::<Vec<_>>().join(", ");
    let usage = "usage: {input: 1, output: 1}";
    let script = format!(
        "version: 1\ntracks:\n  default:\n    - {{calls: [{calls}], {usage}}}\n    - {{reply: done, {usage}}}\n"
    );
    let place = Place::default();
    let visitor = |name, effect| Box::new(Visitor { name, effect, place: place.clone() }) as Box<dyn Tool>;
    let visitors = vec![
        visitor("look", Effect::Read),
        visitor("change", Effect::Once),
        visitor("glance", Effect::Read),
        visitor("wait", Effect::Read),
    ];
    let (outcome, host) = run(&script, "Visit.", visitors);
    assert_eq!(outcome, Outcome::Completed { message: "done".to_owned() });
    let result = |message: &Arc<Message>| match message.as_ref() {
        Message::Tool(result) => Some(result.content.clone()),
        _ => None,
    };
    let results = host.state().transcript.iter().filter_map(result).collect();
    Played { waves: host.waves(), notes: place.inside.lock().expect("one thread").notes.clone(), results }
}

#[test]
fn read_only_neighbours_run_side_by_side() {
    let played = play(&["look", "look"]);
    assert_eq!(played.results, ["met", "met"], "{:?}", played.notes);
    assert_eq!(played.waves, [["w00000000", "w00000001"]]);
}

#[test]
fn a_change_waits_for_what_was_asked_before_and_holds_up_what_was_asked_after() {
    let played = play(&["look", "look", "change", "look", "look", "change"]);
    assert_eq!(played.waves.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 2, 1]);
    assert!(played.results.iter().all(|result| result == "met"), "{:?}", played.results);
    let at = |note: &str| played.notes.iter().position(|other| other == note).unwrap();
    for before in ["w00000000 ends", "w00000001 ends"] {
        assert!(at(before) < at("w00000002 begins"), "{:?}", played.notes);
    }
    for after in ["w00000003 begins", "w00000004 begins"] {
        assert!(at("w00000002 ends") < at(after), "{:?}", played.notes);
    }
    assert!(at("w00000004 ends").max(at("w00000003 ends")) < at("w00000005 begins"), "{:?}", played.notes);
}

#[test]
fn changes_run_one_after_the_other() {
    let played = play(&["change", "change"]);
    assert_eq!(
        played.notes,
        ["w00000000 begins", "w00000000 ends", "w00000001 begins", "w00000001 ends"].map(str::to_owned)
    );
}

#[test]
fn many_reads_go_a_few_at_a_time_and_a_slow_one_holds_nobody_up() {
    let mut tools = vec!["glance"; MANY];
    tools[0] = "wait";
    let Played { notes, results, .. } = play(&tools);
    assert_eq!(results, vec!["met"; MANY], "the first one has seen the last one come");
    let mut inside = 0_usize;
    let most = notes.iter().map(|note| {
        inside = if note.ends_with("begins") { inside + 1 } else { inside - 1 };
        inside
    });
    assert_eq!(most.max(), Some(16));
}
