//! `tell_user`: words that the host shows.

use serde_json::json;
use windlass_domain::{Effect, HostWork, Reach};
use windlass_policy::risk::{Level, Place, Table, assess_call};
use windlass_tools::{Kit, Toolset};

use crate::support::Bench;

#[test]
fn the_host_is_handed_the_words() {
    let bench = Bench::new();
    let tools = Toolset::new(bench.context(), Kit::proxy());
    let arguments = json!({ "message": "Looking." });
    let ran = bench.call_with(&tools, "tell_user", &arguments);
    assert_eq!(ran.request.unwrap().work, HostWork::TellUser { message: "Looking.".to_owned() });
    let prepared = bench.prepare_with(&tools, "tell_user", &arguments.to_string()).unwrap();
    assert_eq!((prepared.effect, prepared.reach), (Effect::Read, Reach::Context));
    let risk = assess_call(&Table::shipped(), "tell_user", &arguments, &Place::workspace());
    assert_eq!(risk.level, Level::Low, "nobody is asked whether the user may be told");
}

#[test]
fn nothing_and_too_much_are_refused() {
    let bench = Bench::new();
    let tools = Toolset::new(bench.context(), Kit::proxy());
    let told = |message: &str| bench.error_with(&tools, "tell_user", &json!({ "message": message }));
    assert!(told("").contains("must not be empty"));
    assert!(told(" \n").contains("must not be empty"));
    assert!(told(&"é".repeat(4_001)).contains("has 4001 letters, at most 4000 are shown at once"));
}
