//! Contracts §5: labels only rise, and data does not leave an external context unasked.

use std::time::Duration;

use proptest::prelude::*;
use windlass_domain::{Taint, Wall};
use windlass_policy::taint::{
    Arrival, Channel, Deed, Leave, Network, Reach, arrival_taint, changed_file_taint, joined, leave, result_taint,
};

const ALL: [Taint; 3] = [Taint::Owner, Taint::Auth, Taint::External];

#[test]
fn results_carry_the_taint_of_what_was_read() {
    use Taint::{Auth, External, Owner};
    let table = [
        (Reach::Files, External, vec![Auth], Auth),
        (Reach::Files, Owner, vec![Auth, External], External),
        (Reach::Files, External, vec![], External),
        (Reach::Program, Auth, vec![Auth], Auth),
        (Reach::Program, External, vec![Auth], External),
        (Reach::Program, Auth, vec![External], External),
        (Reach::NetworkProgram, Owner, vec![Owner], External),
        (Reach::Outside, Owner, vec![Owner], External),
        (Reach::Context, Auth, vec![], Auth),
    ];
    for (reach, context, files, expected) in table {
        assert_eq!(result_taint(reach, context, files.clone()), expected, "{reach:?} {context:?} {files:?}");
    }
}

#[test]
fn tools_reach_what_they_reach_and_unknown_ones_everything() {
    let table = [
        ("read", Network::None, Reach::Files),
        ("grep", Network::Some, Reach::Files),
        ("bash", Network::None, Reach::Program),
        ("bash", Network::Some, Reach::NetworkProgram),
        ("web_fetch", Network::None, Reach::Outside),
        ("web_search", Network::None, Reach::Outside),
        ("browser", Network::None, Reach::Outside),
        ("mcp__files__read", Network::None, Reach::Outside),
        ("save_memo", Network::None, Reach::Context),
        ("", Network::None, Reach::Outside),
    ];
    for (tool, network, expected) in table {
        assert_eq!(Reach::of_tool(tool, network), expected, "{tool}");
    }
}

#[test]
fn a_changed_file_is_never_cleaner_than_before() {
    for execution in ALL {
        assert_eq!(changed_file_taint(None, execution), execution);
        for before in ALL {
            let after = changed_file_taint(Some(before), execution);
            assert!(after >= before && after >= execution);
        }
    }
}

#[test]
fn of_nothing_nothing_is_known() {
    assert_eq!(joined([]), Taint::External);
    assert_eq!(joined([Taint::Owner]), Taint::Owner);
    assert_eq!(joined([Taint::Owner, Taint::External, Taint::Auth]), Taint::External);
}

#[test]
fn an_external_context_carries_nothing_out_unasked() {
    let hosts = ["docs.example.org".to_owned()];
    let call = |reach, host| Deed::Call { reach, host };
    for reach in Reach::ALL {
        let asked = reach.can_carry_out();
        let expected = if asked { Leave::NeedsApproval } else { Leave::Free };
        assert_eq!(leave(Taint::External, call(reach, None), &hosts), expected, "{reach:?}");
        assert_eq!(leave(Taint::External, call(reach, Some("evil.example")), &hosts), expected, "{reach:?}");
        for trusted in [Taint::Owner, Taint::Auth] {
            assert_eq!(leave(trusted, call(reach, None), &hosts), Leave::Free, "{reach:?}");
        }
    }
    let fetch = |host| leave(Taint::External, call(Reach::Outside, Some(host)), &hosts);
    for same in ["docs.example.org", "DOCS.example.org", "docs.example.org."] {
        assert_eq!(fetch(same), Leave::Free, "{same}");
    }
    for other in ["docs.example.org.evil.com", "xdocs.example.org", "example.org", "", "evil.com/docs.example.org"] {
        assert_eq!(fetch(other), Leave::NeedsApproval, "{other}");
    }
    assert_eq!(leave(Taint::External, call(Reach::Outside, Some("")), &[String::new()]), Leave::NeedsApproval);
}

#[test]
fn what_outlives_the_execution_needs_approval() {
    for context in ALL {
        assert_eq!(leave(context, Deed::InstallSkill, &[]), Leave::NeedsApproval);
        assert_eq!(leave(context, Deed::ChangeGates, &[]), Leave::NeedsApproval);
    }
    assert_eq!(leave(Taint::Owner, Deed::WriteOwnerMemory, &[]), Leave::Free);
    assert_eq!(leave(Taint::Auth, Deed::WriteOwnerMemory, &[]), Leave::NeedsApproval);
}

#[test]
fn the_owners_word_is_signed_fresh_and_new() {
    let now = Wall::from_millis(10_000_000);
    let arrival = |signed, minutes_ago: u64, channel| {
        let signed_at = Wall::from_millis(10_000_000 - minutes_ago * 60_000);
        arrival_taint(Arrival { signed_with_fresh_nonce: signed, signed_at, channel }, now)
    };
    assert_eq!(arrival(true, 0, Channel::Open), Taint::Owner);
    assert_eq!(arrival(true, 5, Channel::Open), Taint::Owner);
    assert_eq!(arrival(true, 6, Channel::Open), Taint::External);
    assert_eq!(arrival(true, 6, Channel::Authenticated), Taint::Auth);
    assert_eq!(arrival(false, 0, Channel::Authenticated), Taint::Auth);
    assert_eq!(arrival(false, 0, Channel::Open), Taint::External);
    let tomorrow = now + Duration::from_secs(86_400);
    let ahead = Arrival { signed_with_fresh_nonce: true, signed_at: tomorrow, channel: Channel::Open };
    assert_eq!(arrival_taint(ahead, now), Taint::External);
}

fn any_taint() -> impl Strategy<Value = Taint> {
    prop::sample::select(&ALL[..])
}

proptest! {
    /// Whatever a chain of calls reads and writes, no label in it ever falls.
    #[test]
    fn taint_only_rises_along_a_chain(
        start in any_taint(),
        steps in prop::collection::vec((prop::sample::select(&Reach::ALL[..]), prop::collection::vec(any_taint(), 0..3)), 0..20),
    ) {
        let mut context = start;
        let mut file = None;
        for (reach, files) in steps {
            let worst_file = files.iter().copied().max();
            let result = result_taint(reach, context, files);
            prop_assert!(reach != Reach::Files || worst_file.is_none_or(|worst| result >= worst));
            let next = context.join(result);
            prop_assert!(next >= context);
            context = next;
            let changed = changed_file_taint(file, context);
            prop_assert!(file.is_none_or(|before| changed >= before) && changed >= context);
            file = Some(changed);
        }
    }
}
