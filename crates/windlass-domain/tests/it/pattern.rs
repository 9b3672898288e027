//! The tracker of patterns: what each call and condition leads to, in a notation, and that it halts whatever a model does.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use windlass_domain::pattern::{
    Around, Condition, Hint, InputDoc, Material, PathType, Pattern, PatternNudged, PatternStepped, PlaceEnd, Step,
    TokenBudget, Tracker, Why, where_it_stands,
};
use windlass_domain::{CallId, CallStatus, Finished, Taint};

/// A step is `name:tool,tool` and then words: `on_fail=step`, `retries=1`, `optional`, `done=tool` (called), `file=path`, `says=text`,
/// `skip=tool`, `skip_file=path`, `skip_given`.
pub fn pattern(steps: &str, max_steps: u32) -> Arc<Pattern> {
    let step = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, tools) = words.next().expect("a name").split_once(':').expect("its tools");
        let tools = tools.split(',').filter(|tool| !tool.is_empty()).map(str::to_owned).collect();
        let mut step = Step {
            name: name.to_owned(),
            tools,
            done_when: Vec::new(),
            skip_when: Vec::new(),
            on_fail: None,
            retries: 0,
            optional: false,
        };
        for word in words {
            match word.split_once('=') {
                None if word == "optional" => step.optional = true,
                None if word == "skip_given" => step.skip_when.push(Condition::Given(Material::Attachments)),
                Some(("on_fail", target)) => step.on_fail = Some(target.to_owned()),
                Some(("retries", count)) => step.retries = count.parse().expect("a number"),
                Some(("done", tool)) => step.done_when.push(Condition::Called(vec![tool.to_owned()])),
                Some(("file", path)) => step.done_when.push(Condition::FileExists(path.to_owned())),
                Some(("says", text)) => step.done_when.push(Condition::OutputContains(text.to_owned())),
                Some(("skip", tool)) => step.skip_when.push(Condition::Called(vec![tool.to_owned()])),
                Some(("skip_file", path)) => step.skip_when.push(Condition::FileExists(path.to_owned())),
                _ => panic!("no such word: {word}"),
            }
        }
        step
    };
    Arc::new(Pattern {
        name: "p".to_owned(),
        description: "for a test".to_owned(),
        role: "executor".to_owned(),
        phase: "execution".to_owned(),
        steps: steps.split(';').map(step).collect(),
        max_steps,
        prompt_fragments: Vec::new(),
        input_docs: vec![InputDoc {
            path: Pattern::CONTEXT.to_owned(),
            optional: false,
            max_tokens: 1_500,
            path_type: PathType::Turn,
        }],
        token_budget: TokenBudget::default(),
        temperature: Pattern::TEMPERATURE,
        max_output_tokens: Pattern::MAX_OUTPUT_TOKENS,
    })
}

fn finished(tool: &str, is_ok: bool, content: &str) -> Finished {
    Finished {
        call_id: CallId("c".to_owned()),
        tool: tool.to_owned(),
        status: if is_ok { CallStatus::Ok } else { CallStatus::Error },
        content: content.to_owned(),
        full_output: None,
        images: Vec::new(),
        taint: Taint::Owner,
        duration_ms: 0,
    }
}

/// What a driver does with it, as the native loop does.
struct Led {
    tracker: Tracker,
    around: Around,
    told: Vec<String>,
}

impl Led {
    fn new(steps: &str, max_steps: u32) -> Self {
        let tracker = Tracker::new(pattern(steps, max_steps)).expect("it leads");
        let mut led = Self { tracker, around: Around::default(), told: Vec::new() };
        led.settle();
        led
    }

    fn settle(&mut self) {
        while let Some(stepped) = self.tracker.due(&self.around) {
            let to = stepped.to.clone().unwrap_or_else(|| stepped.end.expect("an end").as_str().to_owned());
            self.told.push(format!("{}>{to}({})", stepped.from, stepped.why.as_str()));
            self.tracker.step(&stepped);
        }
        if let Some(hint @ Hint::Repeats { .. }) = self.tracker.owed().cloned() {
            let Hint::Repeats { step, .. } = &hint else { return };
            self.told.push(format!("nudge:{step}"));
            self.tracker.nudge(&PatternNudged { hint, message: String::new() });
        }
    }

    /// `tool` succeeds, `tool!` fails, `tool=text` says something; `a+b` is one answer with two calls.
    fn play(&mut self, calls: &str) {
        for answer in calls.split_whitespace() {
            for call in answer.split('+') {
                let (call, content) = call.split_once('=').unwrap_or((call, ""));
                let tool = call.trim_end_matches('!');
                match self.tracker.clone().admit(tool, &self.around) {
                    Ok(()) => self.tracker.observe(&finished(tool, !call.ends_with('!'), content), "{}"),
                    Err(why) => {
                        assert!(why.starts_with("not done: "), "{why}");
                        self.told.push(format!("no:{tool}"));
                        self.tracker.observe(&finished(tool, false, &why), "{}");
                    }
                }
            }
            self.settle();
        }
    }
}

#[track_caller]
fn check(steps: &str, calls: &str, expected: &str) {
    let mut led = Led::new(steps, 10);
    led.play(calls);
    assert_eq!(led.told.join(" "), expected, "after {calls}");
}

const SKILL_BUILD: &str = "research:search,fetch retries=2 skip_given;synthesize:;generate:create retries=2";
const CODE_MODIFY: &str = "read:read;understand:;edit:edit;verify:test on_fail=edit";

#[test]
fn steps_follow_each_other_on_the_tools_they_declare() {
    check(
        SKILL_BUILD,
        "search create",
        "research>synthesize(done) synthesize>generate(passed) generate>complete(done)",
    );
    check(
        CODE_MODIFY,
        "read edit test",
        "read>understand(done) understand>edit(passed) edit>verify(done) verify>complete(done)",
    );
    check(CODE_MODIFY, "read other edit", "read>understand(done) understand>edit(passed) edit>verify(done)");
    check("a:x optional;b:y", "y", "a>b(passed) b>complete(done)");
}

#[test]
fn a_failure_is_tried_again_and_then_leads_where_the_step_says() {
    check(SKILL_BUILD, "search! search! search", "research>synthesize(done)");
    check(SKILL_BUILD, "search! search! search!", "research>stuck(failed)");
    check(
        CODE_MODIFY,
        "read edit test! edit test",
        "read>understand(done) understand>edit(passed) edit>verify(done) \
        verify>edit(failed) edit>verify(done) verify>complete(done)",
    );
    check("a:x optional retries=1;b:y", "x! x! y", "a>b(failed) b>complete(done)");
}

#[test]
fn a_finished_step_is_repeated_once_with_a_word_and_never_again() {
    check(
        SKILL_BUILD,
        "search search search fetch search create",
        "research>synthesize(done) nudge:research no:search \
        no:fetch no:search synthesize>generate(passed) generate>complete(done)",
    );
    check(
        SKILL_BUILD,
        "search create search search",
        "research>synthesize(done) synthesize>generate(passed) \
        generate>complete(done) nudge:research no:search",
    );
    // Whatever is asked for in one answer.
    check(
        SKILL_BUILD,
        "search+search+search+search+search",
        "no:search no:search no:search research>synthesize(done) nudge:research",
    );
}

#[test]
fn what_belongs_to_a_later_step_waits_for_those_before() {
    check(
        SKILL_BUILD,
        "create create search create",
        "no:create no:create research>synthesize(done) \
        synthesize>generate(passed) generate>complete(done)",
    );
    check(CODE_MODIFY, "test edit read", "no:test no:edit read>understand(done)");
    // Several in one answer: each belongs where those before it lead.
    check("read:read;edit:read,edit done=edit retries=3", "read+read+edit", "read>edit(done) edit>complete(done)");
    check(
        CODE_MODIFY,
        "read edit test!+edit+test",
        "read>understand(done) understand>edit(passed) edit>verify(done) \
        no:test verify>edit(failed) edit>verify(done)",
    );
    // The first of them does the step.
    check(
        SKILL_BUILD,
        "search+create",
        "research>synthesize(done) synthesize>generate(passed) generate>complete(done)",
    );
}

#[test]
fn conditions_decide_and_not_the_model() {
    check("a:x,y retries=5 done=y;b:z", "x x y", "a>b(done)");
    check("a:x retries=5 says=passed;b:z", "x=failed x=passed", "a>b(done)");
    check("a:x retries=1 says=passed;b:z", "x=failed x=failed", "a>stuck(failed)");
    check("a:x;b:y skip=x;c:z", "x", "a>b(done) b>c(skipped)");
    let mut led = Led::new("a:x retries=3 file=out.txt;b:y", 10);
    led.play("x");
    assert_eq!(led.told.join(" "), "");
    led.around.files.insert("out.txt".to_owned());
    led.settle();
    assert_eq!(led.told.join(" "), "a>b(done)");
}

#[test]
fn what_came_with_the_task_is_not_looked_for() {
    let tracker = Tracker::new(pattern(SKILL_BUILD, 5)).expect("it leads");
    let around = Around { given: BTreeSet::from([Material::Attachments]), ..Around::default() };
    let due = tracker.due(&around).expect("it is skipped");
    assert_eq!((due.to.as_deref(), due.why), (Some("synthesize"), Why::Skipped));
}

#[test]
fn who_says_it_is_done_before_it_is_hears_of_the_step() {
    let mut led = Led::new(SKILL_BUILD, 5);
    let unfinished = |led: &Led| led.tracker.unfinished(&led.around).map(|step| step.name.clone());
    assert_eq!(unfinished(&led).as_deref(), Some("research"));
    led.play("search");
    assert_eq!(unfinished(&led).as_deref(), Some("generate"), "thinking is done by going on");
    let hint = Hint::TooEarly { step: "generate".to_owned() };
    led.tracker.nudge(&PatternNudged { hint, message: String::new() });
    assert_eq!(led.tracker.hurried(), 1);
    led.play("create");
    assert_eq!((unfinished(&led), led.tracker.end()), (None, Some(PlaceEnd::Complete)));
}

#[test]
fn the_tools_that_can_be_called_now_are_those_of_the_step_and_of_what_may_follow() {
    let mut led = Led::new(SKILL_BUILD, 5);
    let open = |led: &Led| led.tracker.open_tools(&led.around).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(open(&led), "fetch search");
    led.play("search");
    assert_eq!(open(&led), "create");
    led.play("create");
    assert_eq!(open(&led), "");
}

#[test]
fn the_changes_of_step_are_counted_and_bounded() {
    let mut led = Led::new(CODE_MODIFY, 5);
    led.play("read edit test! edit test!");
    let last = led.told.last().map(String::as_str);
    assert_eq!(
        (led.tracker.end(), last),
        (Some(PlaceEnd::Exhausted), Some("verify>exhausted(failed)")),
        "{:?}",
        led.told
    );
    assert_eq!(led.tracker.transitions(), 5);
    led.play("edit test");
    assert_eq!(led.told.last().map(String::as_str), Some("no:test"));
}

#[test]
fn where_it_stands_is_written_for_people() {
    let mut led = Led::new(CODE_MODIFY, 10);
    led.play("read edit");
    let shown = where_it_stands(&led.tracker);
    let expected = "Pattern `p`: for a test\n1. [done] read with read\n2. [left out] understand\n3. [done] edit with edit\n\
        4. [now] verify with test; 0 of 1 calls made\nCurrent step: verify. 3 of 10 changes of step made.";
    assert_eq!(shown, expected);
}

#[test]
fn a_pattern_with_nothing_to_keep_to_leads_nobody() {
    assert!(Tracker::new(pattern("work:", 5)).is_none());
}

const TOOLS: [&str; 5] = ["a", "b", "c", "d", "free"];

fn any_step() -> impl Strategy<Value = Step> {
    let tools = prop::collection::btree_set(prop::sample::select(&TOOLS[..4]), 0..3);
    let condition = prop_oneof![
        Just(Condition::Ok),
        Just(Condition::Error),
        Just(Condition::OutputContains("yes".to_owned())),
        prop::sample::select(&TOOLS[..]).prop_map(|tool| Condition::Called(vec![tool.to_owned()])),
        Just(Condition::FileExists("f".to_owned())),
    ];
    let skips = prop_oneof![
        3 => Just(Vec::new()),
        1 => prop::sample::select(&TOOLS[..]).prop_map(|tool| vec![Condition::Called(vec![tool.to_owned()])]),
        1 => Just(vec![Condition::FileExists("f".to_owned())]),
    ];
    let done = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(condition, 1..3)];
    (tools, done, skips, prop::option::of(0..5_usize), 0..4_u32, any::<bool>()).prop_map(
        |(tools, done_when, skip_when, on_fail, retries, optional)| Step {
            name: String::new(),
            tools: tools.into_iter().map(str::to_owned).collect(),
            done_when,
            skip_when,
            on_fail: on_fail.map(|target| target.to_string()),
            retries,
            optional,
        },
    )
}

fn any_pattern() -> impl Strategy<Value = Arc<Pattern>> {
    (prop::collection::vec(any_step(), 1..6), 1..12_u32).prop_map(|(mut steps, max_steps)| {
        let many = steps.len();
        for (place, step) in steps.iter_mut().enumerate() {
            step.name = place.to_string();
            step.on_fail = step.on_fail.take().filter(|target| target.parse::<usize>().expect("a number") < many);
        }
        Arc::new(Pattern { steps, max_steps, ..Pattern::clone(&pattern("x:a", 1)) })
    })
}

/// A model that does anything at all, and files that come and go.
fn any_behaviour() -> impl Strategy<Value = Vec<(usize, bool, bool, bool)>> {
    prop::collection::vec((0..TOOLS.len(), any::<bool>(), any::<bool>(), any::<bool>()), 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn it_halts_goes_back_only_by_on_fail_and_bounds_the_tries(pattern in any_pattern(), behaviour in any_behaviour()) {
        let Some(mut tracker) = Tracker::new(Arc::clone(&pattern)) else { return Ok(()) };
        let mut around = Around::default();
        let (mut changes, mut calls, mut tries) = (0_u32, 0_u32, 0_u32);
        let most_tries = pattern.steps.iter().map(|step| step.retries + 1).max().unwrap_or_default();
        for (tool, is_ok, says_yes, file) in behaviour {
            if file {
                around.files.insert("f".to_owned());
            } else {
                around.files.clear();
            }
            let tool = TOOLS[tool];
            let is_of_a_step = pattern.steps.iter().any(|step| step.has(tool));
            let here = tracker.current().is_some_and(|step| step.has(tool));
            let is_let = tracker.clone().admit(tool, &around).is_ok();
            prop_assert!(is_let || is_of_a_step, "what no step names is free");
            if is_let {
                calls += u32::from(is_of_a_step);
                tries += u32::from(here);
                let most = tracker.current().map(|step| step.retries + 1);
                prop_assert!(!here || Some(tries) <= most, "a step takes as many calls as it may");
                tracker.observe(&finished(tool, is_ok, if says_yes { "yes" } else { "no" }), "{}");
            } else {
                tracker.observe(&finished(tool, false, "not done"), "{}");
            }
            while let Some(stepped) = tracker.due(&around) {
                let PatternStepped { from, to, why, transition, .. } = &stepped;
                changes += 1;
                prop_assert!(*transition <= pattern.max_steps);
                let from = pattern.place_of(from).expect("a step");
                if let Some(to) = to.as_deref().and_then(|to| pattern.place_of(to)) {
                    let target = pattern.steps[from].on_fail.as_deref().and_then(|step| pattern.place_of(step));
                    prop_assert!(to > from || (*why == Why::Failed && target == Some(to)), "{from} > {to}");
                }
                tracker.step(&stepped);
                tries = tracker.tries();
            }
            if let Some(hint) = tracker.owed().cloned() {
                tracker.nudge(&PatternNudged { hint, message: String::new() });
            }
        }
        prop_assert!(changes <= pattern.max_steps + 1, "{changes} changes of step");
        prop_assert!(tracker.transitions() <= pattern.max_steps);
        // Every visit has its tries, and every visit may be followed by one repetition of each step before it.
        let steps = u32::try_from(pattern.steps.len()).expect("few");
        prop_assert!(calls <= (pattern.max_steps + 2) * (most_tries + steps), "{calls} calls");
    }
}
