//! `monitor`: what would be looked at is said, and nothing is done.

use serde_json::{Value, json};
use windlass_domain::monitor::{MonitoringSchedule, TimeoutAction};
use windlass_domain::{CallStatus, Effect, Prepared, Reach, Wall};
use windlass_tools::{Confinement, Kit};

use crate::support::Bench;

pub fn arguments() -> Value {
    json!({
        "interval_seconds": 300,
        "check_prompt": "Is the price below 100?",
        "timeout_at": "2026-12-01T18:00:00+01:00",
        "timeout_action": "complete",
    })
}

fn with(field: &str, value: Value) -> Value {
    let mut arguments = arguments();
    arguments[field] = value;
    arguments
}

fn prepared(arguments: &Value) -> Result<Prepared, String> {
    let bench = Bench::new();
    bench.prepare_with(&bench.tools, "monitor", &arguments.to_string())
}

#[test]
fn the_schedule_is_what_the_call_is_about() {
    let schedule = MonitoringSchedule {
        interval_seconds: 300,
        check_prompt: "Is the price below 100?".to_owned(),
        timeout_at: Wall::from_rfc3339("2026-12-01T17:00:00Z").unwrap(),
        timeout_action: TimeoutAction::Complete,
    };
    let Prepared { effect, reach, program, monitor, .. } = prepared(&arguments()).unwrap();
    assert_eq!((effect, reach, program, monitor), (Effect::Read, Reach::Context, None, Some(schedule)));
}

#[test]
fn what_cannot_be_gone_by_is_refused_and_says_what_to_do() {
    let refused = |field, value| prepared(&with(field, value)).unwrap_err();
    assert!(refused("interval_seconds", json!(9)).contains("interval_seconds"));
    assert!(refused("interval_seconds", json!("often")).contains("interval_seconds"));
    assert!(refused("check_prompt", json!("x".repeat(10 << 20))).contains("check_prompt"));
    assert!(refused("timeout_at", json!("tomorrow")).contains("2026-12-01T18:00:00Z"));
    assert!(refused("timeout_action", json!("shrug")).contains("timeout_action"));
    for field in ["interval_seconds", "check_prompt", "timeout_at", "timeout_action"] {
        let mut arguments = arguments();
        arguments.as_object_mut().unwrap().remove(field);
        assert!(prepared(&arguments).unwrap_err().contains(field), "{field}");
    }
}

#[test]
fn it_is_never_run_and_only_who_has_a_task_of_its_own_has_it() {
    assert_eq!(Bench::new().call("monitor", &arguments()).status, CallStatus::Error);
    assert!(Kit::executor(Confinement::Sealed).has("monitor"));
    for kit in [Kit::read_only(), Kit::proxy(), Kit::planner(), Kit::alignment()] {
        assert!(!kit.has("monitor"));
    }
}
