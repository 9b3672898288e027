//! What the loop does when leave is neither given nor refused: it ends while a person is asked and goes on after the yes,
//! and it prepares anew what a gate has rewritten, and what a crash cut off.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use windlass_domain::execution::{CallPhase, ExecutionCommand, OpenCall, Outcome};
use windlass_domain::{
    BoxFuture, CallId, CallOutcome, CallStatus, Digest, Effect, Host, Message, Permit, Prepared, Probe, Reach, Stop,
    Taint, ToolSpec,
};
use windlass_tools::{Context, Output, Running, Tool};

use crate::support::{Judge, Judgement, Stage};

const SAFE: &str = r#"{"text":"safe"}"#;

/// Says what it is given; `bad` is what it cannot do.
#[derive(Clone)]
struct Say {
    name: &'static str,
    effect: fn(usize) -> Effect,
    heard: Arc<Mutex<Heard>>,
}

#[derive(Default)]
struct Heard {
    prepared: Vec<String>,
    ran: Vec<String>,
}

impl Tool for Say {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({"type": "object"});
        ToolSpec { name: self.name.to_owned(), description: "Says it.".to_owned(), parameters }
    }

    fn prepare(&self, arguments: &Value, _: &Context) -> Result<Prepared, String> {
        let text = arguments["text"].as_str().expect("a test says something").to_owned();
        let mut heard = self.heard.lock().expect("one thread");
        heard.prepared.push(text.clone());
        if text == "bad" {
            return Err("it cannot be said".to_owned());
        }
        Ok(Prepared::new((self.effect)(heard.prepared.len()), Reach::Files(vec![text])))
    }

    fn run<'a>(&'a self, permit: Permit, _: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        let arguments: Value = serde_json::from_str(permit.redeem().call.arguments.get()).expect("JSON");
        let text = arguments["text"].as_str().expect("it was prepared").to_owned();
        self.heard.lock().expect("one thread").ran.push(text.clone());
        Box::pin(async move { Output::ok(format!("said {text}")) })
    }
}

struct Play {
    stage: Stage,
    heard: Arc<Mutex<Heard>>,
}

impl Play {
    /// The model asks for `read` or `once` with a text, all in one answer, and then says it is done.
    fn new(calls: &[(&str, &str)], judge: Judge) -> Self {
        let calls: Vec<_> =
            calls.iter().map(|(tool, text)| format!("{{tool: {tool}, args: {{text: {text}}}}}")).collect();
        let (calls, usage) = (calls.join(", "), "usage: {input: 1, output: 1}");
        let script = format!(
            "version: 1\ntracks:\n  default:\n    - {{calls: [{calls}], {usage}}}\n    - {{reply: done, {usage}}}\n"
        );
        let heard = Arc::new(Mutex::new(Heard::default()));
        let tool = |name, effect| Box::new(Say { name, effect, heard: heard.clone() }) as Box<dyn Tool>;
        let tools = vec![tool("read", |_| Effect::Read), tool("once", |_| Effect::Once), tool("probe", probe)];
        Self { stage: Stage::new(&script, "Say it.", tools, judge), heard }
    }

    fn ran(&self) -> Vec<String> {
        self.heard.lock().expect("one thread").ran.clone()
    }

    fn prepared(&self) -> Vec<String> {
        self.heard.lock().expect("one thread").prepared.clone()
    }

    fn results(&self) -> Vec<String> {
        let result = |message: &Arc<Message>| match message.as_ref() {
            Message::Tool(result) => Some(result.content.clone()),
            _ => None,
        };
        self.stage.host.state().transcript.iter().filter_map(result).collect()
    }
}

/// No two preparations say the same of what they will do.
fn probe(preparations: usize) -> Effect {
    let after = Digest::of(&preparations.to_be_bytes());
    Effect::Probe(Probe { path: "never-there".to_owned(), before: None, after, result: "written".to_owned() })
}

fn completed() -> Outcome {
    Outcome::Completed { message: "done".to_owned() }
}

/// A person is asked about everything.
fn asks(open: &OpenCall) -> Judgement {
    match open.phase {
        CallPhase::Approved(_) => Judgement::Grant,
        _ => Judgement::Wait,
    }
}

/// Only about the second call.
fn asks_about_the_second(open: &OpenCall) -> Judgement {
    if open.call.call_id.0 == "w00000001" { asks(open) } else { Judgement::Grant }
}

fn rewrites(open: &OpenCall) -> Judgement {
    match open.phase {
        CallPhase::Asked => Judgement::Rewrite(SAFE),
        _ => Judgement::Grant,
    }
}

#[test]
fn a_run_ends_while_a_person_is_asked_and_goes_on_after_the_yes() {
    let play = Play::new(&[("once", "hello")], asks);
    assert_eq!(play.stage.run(), Outcome::Waiting);
    assert_eq!((play.ran().len(), play.results().len()), (0, 0));
    play.stage.host.approve();
    assert_eq!(play.stage.run(), completed());
    assert_eq!((play.ran(), play.results()), (vec!["hello".to_owned()], vec!["said hello".to_owned()]));
}

/// Woken too early, it neither runs the call nor asks for leave a second time.
#[test]
fn without_an_answer_nothing_happens_however_often_it_is_woken() {
    let play = Play::new(&[("once", "hello")], asks);
    for _ in 0..3 {
        assert_eq!(play.stage.run(), Outcome::Waiting);
    }
    assert_eq!(play.stage.host.waves().len(), 1);
    assert_eq!(play.ran().len(), 0);
}

#[test]
fn a_no_is_a_result_like_any_other() {
    let play = Play::new(&[("once", "hello")], asks);
    assert_eq!(play.stage.run(), Outcome::Waiting);
    let outcome = CallOutcome {
        call_id: CallId("w00000000".to_owned()),
        status: CallStatus::Denied,
        content: "denied by the owner".to_owned(),
        full_output: None,
        images: vec![],
        duration_ms: 0,
    };
    play.stage.host.decide(ExecutionCommand::FinishCall { outcome, taint: Taint::Owner }).expect("it waits");
    assert_eq!(play.stage.run(), completed());
    assert_eq!((play.ran(), play.results()), (vec![], vec!["denied by the owner".to_owned()]));
}

#[test]
fn what_comes_before_a_call_that_waits_is_done_and_what_comes_after_is_not() {
    let play = Play::new(&[("once", "one"), ("once", "two"), ("once", "three")], asks_about_the_second);
    assert_eq!(play.stage.run(), Outcome::Waiting);
    assert_eq!(play.ran(), ["one"]);
    play.stage.host.approve();
    assert_eq!(play.stage.run(), completed());
    assert_eq!(play.ran(), ["one", "two", "three"]);
}

#[test]
fn of_calls_that_read_side_by_side_only_the_one_that_waits_is_left() {
    let play = Play::new(&[("read", "one"), ("read", "two"), ("read", "three")], asks_about_the_second);
    assert_eq!(play.stage.run(), Outcome::Waiting);
    assert_eq!(play.ran(), ["one", "three"]);
    play.stage.host.approve();
    assert_eq!(play.stage.run(), completed());
    assert_eq!(play.ran(), ["one", "three", "two"]);
    assert_eq!(play.results(), ["said one", "said three", "said two"]);
}

#[test]
fn a_rewritten_call_is_prepared_anew_and_runs_as_it_was_rewritten() {
    let play = Play::new(&[("once", "rude")], rewrites);
    assert_eq!(play.stage.run(), completed());
    assert_eq!(play.prepared(), ["rude", "safe"]);
    assert_eq!((play.ran(), play.results()), (vec!["safe".to_owned()], vec!["said safe".to_owned()]));
    let reached: Vec<_> = play.stage.host.asked.lock().expect("one thread").concat();
    let reached: Vec<_> = reached.into_iter().map(|intent| intent.prepared.reach).collect();
    assert_eq!(reached, ["rude", "safe"].map(|text| Reach::Files(vec![text.to_owned()])));
}

/// What the model asked for stands in its answer, so that it can see that something else was done.
#[test]
fn the_transcript_keeps_what_the_model_asked_for() {
    let play = Play::new(&[("once", "rude")], rewrites);
    assert_eq!(play.stage.run(), completed());
    let state = play.stage.host.state();
    let asked = state.transcript.iter().find_map(|message| match message.as_ref() {
        Message::Assistant { calls, .. } => calls.first(),
        _ => None,
    });
    assert_eq!(asked.expect("a call").arguments.get(), r#"{"text":"rude"}"#);
}

#[test]
fn a_call_rewritten_into_what_cannot_be_done_is_an_error_and_not_run() {
    let play = Play::new(&[("once", "rude")], |_| Judgement::Rewrite(r#"{"text":"bad"}"#));
    assert_eq!(play.stage.run(), completed());
    assert_eq!((play.prepared(), play.ran()), (vec!["rude".to_owned(), "bad".to_owned()], vec![]));
    assert_eq!(play.results(), ["Error: it cannot be said"]);
}

#[test]
fn what_is_approved_after_a_rewrite_is_what_was_rewritten() {
    let play = Play::new(&[("once", "rude")], |open| match open.phase {
        CallPhase::Asked => Judgement::Rewrite(SAFE),
        CallPhase::Rewritten => Judgement::Wait,
        _ => Judgement::Grant,
    });
    assert_eq!(play.stage.run(), Outcome::Waiting);
    play.stage.host.approve();
    assert_eq!(play.stage.run(), completed());
    assert_eq!(play.ran(), ["safe"]);
}

/// The host judges again, so it is told again what the call reaches; but its effect is the one in the journal.
#[test]
fn a_recovered_call_is_prepared_again_and_keeps_the_effect_it_was_begun_with() {
    for tool in ["read", "probe"] {
        let play = Play::new(&[(tool, "hello")], |_| Judgement::Vanish);
        assert_eq!(play.stage.run(), Outcome::Stopped(Stop::LeaseLost));
        assert_eq!(play.ran().len(), 0);
        play.stage.host.judge_anew(|_| Judgement::Grant);
        assert_eq!(play.stage.run(), completed());
        assert_eq!((play.prepared().len(), play.ran()), (2, vec!["hello".to_owned()]), "{tool}");
        let asked: Vec<_> = play.stage.host.asked.lock().expect("one thread").concat();
        assert_eq!(asked[0], asked[1], "{tool}");
    }
}

#[test]
fn a_recovered_call_runs_as_it_was_rewritten() {
    let play = Play::new(&[("read", "rude")], |open| match open.phase {
        CallPhase::Asked => Judgement::Rewrite(SAFE),
        _ => Judgement::Vanish,
    });
    assert_eq!(play.stage.run(), Outcome::Stopped(Stop::LeaseLost));
    play.stage.host.judge_anew(|_| Judgement::Grant);
    assert_eq!(play.stage.run(), completed());
    assert_eq!(
        (play.prepared(), play.ran()),
        (["rude", "safe", "safe"].map(str::to_owned).to_vec(), vec!["safe".to_owned()])
    );
}

/// Nobody knows whether it happened, so nobody asks for leave again.
#[test]
fn a_recovered_call_that_runs_once_is_not_prepared_again() {
    let play = Play::new(&[("once", "hello")], |_| Judgement::Vanish);
    assert_eq!(play.stage.run(), Outcome::Stopped(Stop::LeaseLost));
    play.stage.host.judge_anew(|_| Judgement::Grant);
    assert_eq!(play.stage.run(), completed());
    assert_eq!((play.prepared().len(), play.ran().len(), play.stage.host.waves().len()), (1, 0, 1));
    assert!(play.results()[0].starts_with("interrupted: "), "{:?}", play.results());
}
