//! `publish_deliverable`: the file is looked at here, kept by the host.

use insta::assert_snapshot;
use serde_json::json;
use windlass_domain::{CallStatus, DeliverableType, Effect, HostWork};

use crate::support::Bench;

#[test]
fn a_file_is_handed_to_the_host_by_its_path_in_the_workspace() {
    let bench = Bench::new();
    bench.put("output/report.md", "# Report\n");
    let arguments =
        json!({ "filepath": "/workspace/output/report.md", "description": "What was found", "type": "report" });
    assert_eq!(bench.prepare("publish_deliverable", &arguments), Ok(Effect::Read));
    let ran = bench.call("publish_deliverable", &arguments);
    assert_eq!(ran.status, CallStatus::Ok);
    assert_snapshot!(ran.content, @"Published output/report.md (9 bytes) as a deliverable.");
    assert_eq!(
        ran.request.map(|request| request.work),
        Some(HostWork::Deliver {
            filepath: "output/report.md".to_owned(),
            description: "What was found".to_owned(),
            kind: DeliverableType::Report,
        })
    );
}

#[test]
fn the_host_gets_the_real_name_and_the_model_a_readable_one() {
    let bench = Bench::new();
    bench.put("a\nb", "");
    let ran = bench.call("publish_deliverable", &json!({ "filepath": "a\nb", "description": "", "type": "data" }));
    assert_snapshot!(ran.content, @r"Published a\nb (0 bytes) as a deliverable.");
    let Some(HostWork::Deliver { filepath, .. }) = ran.request.map(|request| request.work) else {
        panic!("nothing is asked for")
    };
    assert_eq!(filepath, "a\nb");
}

#[test]
fn a_file_that_has_gone_since_is_not_published() {
    let bench = Bench::new();
    bench.put("a", "");
    let arguments = json!({ "filepath": "a", "description": "", "type": "code" });
    let effect = bench.prepare("publish_deliverable", &arguments).unwrap();
    std::fs::remove_file(bench.path("a")).unwrap();
    let ran = bench.run("publish_deliverable", &arguments, effect);
    assert_eq!((ran.status, ran.request.is_some()), (CallStatus::Error, false));
}

#[test]
fn what_is_no_file_of_the_workspace_is_refused() {
    let bench = Bench::new();
    bench.put("output/report.md", "");
    std::os::unix::fs::symlink("../secret", bench.path("link")).unwrap();
    let told = |path: &str| {
        let ran = bench.call("publish_deliverable", &json!({ "filepath": path, "description": "", "type": "other" }));
        assert_eq!((ran.status, ran.request.is_some()), (CallStatus::Error, false));
        ran.content
    };
    assert_snapshot!(told("output"), @"Error: output: is a folder, not a file");
    assert_snapshot!(told("missing"), @"Error: missing: no such file or folder");
    assert_snapshot!(told("link"), @"Error: link: leads outside the workspace; use a path below /workspace");
    assert_snapshot!(told("../secret"), @"Error: ../secret: leads outside the workspace; use a path below /workspace");
}
