//! `context_inspect`: a question about the agent's own context, which the host answers.

use serde_json::json;
use windlass_domain::HostWork;
use windlass_domain::execution::ContextZone;
use windlass_tools::{Kit, Toolset};

use crate::support::Bench;

#[test]
fn the_host_is_asked_for_a_zone_or_for_all_in_short() {
    let bench = Bench::new();
    let tools = Toolset::new(bench.context(), Kit::proxy());
    let asked = |arguments| match bench.call_with(&tools, "context_inspect", &arguments).request.unwrap().work {
        HostWork::InspectContext { zone } => zone,
        other => panic!("{other:?}"),
    };
    assert_eq!(asked(json!({})), None);
    assert_eq!(asked(json!({ "zone": null })), None);
    assert_eq!(asked(json!({ "zone": "questions" })), Some(ContextZone::Questions));
    for zone in ContextZone::WORDS {
        assert!(asked(json!({ "zone": zone })).is_some(), "{zone}");
    }
}

#[test]
fn a_zone_that_there_is_not_is_refused() {
    let bench = Bench::new();
    let tools = Toolset::new(bench.context(), Kit::proxy());
    let told = bench.error_with(&tools, "context_inspect", &json!({ "zone": "file" }));
    assert!(told.contains("did you mean \"files\"?"), "{told}");
}
