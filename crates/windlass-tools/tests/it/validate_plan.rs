//! `validate_plan`: the host reads the document.

use serde_json::json;
use windlass_domain::{Effect, HostWork, Reach};
use windlass_tools::{Kit, Toolset};

use crate::support::Bench;

#[test]
fn the_host_is_handed_the_whole_document() {
    let bench = Bench::new();
    let tools = Toolset::new(bench.context(), Kit::planner());
    let arguments = json!({ "plan_markdown": "---\nid: a\n---\n" });
    let ran = bench.call_with(&tools, "validate_plan", &arguments);
    assert_eq!(ran.request.unwrap().work, HostWork::ValidatePlan { plan_markdown: "---\nid: a\n---\n".to_owned() });
    let prepared = bench.prepare_with(&tools, "validate_plan", &arguments.to_string()).unwrap();
    assert_eq!((prepared.effect, prepared.reach), (Effect::Read, Reach::Context));
}

#[test]
fn no_document_is_refused() {
    let bench = Bench::new();
    let tools = Toolset::new(bench.context(), Kit::planner());
    assert!(bench.error_with(&tools, "validate_plan", &json!({ "plan_markdown": "" })).contains("must not be empty"));
    assert!(
        bench.error_with(&tools, "validate_plan", &json!({ "plan": "x" })).contains("did you mean `plan_markdown`?")
    );
}
