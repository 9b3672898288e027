//! Contracts §5: labels only rise, and data does not leave an external context unasked.

use std::time::Duration;

use proptest::prelude::*;
use windlass_domain::{Labels, Reach, Taint, Wall};
use windlass_policy::taint::{Arrival, Channel, Deed, Leave, arrival_taint, joined, leave, result_taint};

const ALL: [Taint; 3] = [Taint::Owner, Taint::Auth, Taint::External];

/// A workspace in which `page.html` has this label and the rest is as it was.
fn workspace(page: Taint) -> Labels {
    let mut labels = Labels::default();
    labels.changed("page.html", page);
    labels
}

fn files(paths: &[&str]) -> Reach {
    Reach::Files(paths.iter().map(|path| (*path).to_owned()).collect())
}

fn every_reach() -> [Reach; 6] {
    [
        Reach::Context,
        files(&["page.html"]),
        Reach::Program,
        Reach::NetworkProgram,
        Reach::Outside(None),
        Reach::Outside(Some("evil.example".to_owned())),
    ]
}

#[test]
fn results_carry_the_taint_of_what_was_read() {
    use Taint::{Auth, External, Owner};
    let table = [
        (files(&["readme.md"]), External, External, Auth),
        (files(&["readme.md", "page.html"]), Owner, External, External),
        (files(&[""]), Owner, External, External),
        (files(&[]), External, Auth, External),
        (Reach::Program, Auth, Auth, Auth),
        (Reach::Program, External, Auth, External),
        (Reach::Program, Auth, External, External),
        (Reach::NetworkProgram, Owner, Auth, External),
        (Reach::Outside(None), Owner, Auth, External),
        (Reach::Context, Auth, External, Auth),
    ];
    for (reach, context, page, expected) in table {
        assert_eq!(result_taint(&reach, context, &workspace(page)), expected, "{reach:?} {context:?} {page:?}");
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
    for reach in every_reach() {
        let expected = if reach.can_carry_out() { Leave::NeedsApproval } else { Leave::Free };
        assert_eq!(leave(Taint::External, Deed::Call(&reach), &hosts), expected, "{reach:?}");
        for trusted in [Taint::Owner, Taint::Auth] {
            assert_eq!(leave(trusted, Deed::Call(&reach), &hosts), Leave::Free, "{reach:?}");
        }
    }
    let fetch = |host: &str, hosts: &[String]| {
        leave(Taint::External, Deed::Call(&Reach::Outside(Some(host.to_owned()))), hosts)
    };
    for same in ["docs.example.org", "DOCS.example.org", "docs.example.org."] {
        assert_eq!(fetch(same, &hosts), Leave::Free, "{same}");
    }
    for other in ["docs.example.org.evil.com", "xdocs.example.org", "example.org", "", "evil.com/docs.example.org"] {
        assert_eq!(fetch(other, &hosts), Leave::NeedsApproval, "{other}");
    }
    assert_eq!(fetch("", &[String::new()]), Leave::NeedsApproval);
    let below = [".example.org".to_owned()];
    for covered in ["example.org", "docs.example.org", "a.b.EXAMPLE.org."] {
        assert_eq!(fetch(covered, &below), Leave::Free, "{covered}");
    }
    for other in ["notexample.org", "example.org.evil.com", "org", ""] {
        assert_eq!(fetch(other, &below), Leave::NeedsApproval, "{other}");
    }
    assert_eq!(fetch("com", &[".".to_owned()]), Leave::NeedsApproval);
}

/// Regression: an entry for one port, or for the web, was leave for every port of its host.
#[test]
fn an_allowed_host_is_allowed_at_its_port() {
    let check = |entry: &str, wanted: &str, expected| {
        let reach = Reach::Outside(Some(wanted.to_owned()));
        assert_eq!(leave(Taint::External, Deed::Call(&reach), &[entry.to_owned()]), expected, "{wanted} by {entry}");
    };
    for free in ["a.example", "a.example:443", "a.example:80", "A.example.:80"] {
        check("a.example", free, Leave::Free);
    }
    for other in ["a.example:8080", "a.example:22", "a.example:", "a.example:x", "a.example:99999", "b.example:80"] {
        check("a.example", other, Leave::NeedsApproval);
    }
    check("a.example:8080", "a.example:8080", Leave::Free);
    check("a.example:443", "a.example", Leave::Free);
    for other in ["a.example", "a.example:80", "a.example:18080"] {
        check("a.example:8080", other, Leave::NeedsApproval);
    }
    check("a.example:443", "a.example:80", Leave::NeedsApproval);
    check(".example", "a.example:8080", Leave::NeedsApproval);
    check("[fd00::1]:81", "[fd00::1]:81", Leave::Free);
    check("[fd00::1]:81", "[fd00::1]", Leave::NeedsApproval);
    check("fd00::1", "[fd00::1]", Leave::Free);
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
        steps in prop::collection::vec((0_usize..6, any_taint()), 0..20),
    ) {
        let mut context = start;
        let mut labels = Labels::default();
        for (which, other) in steps {
            let reach = every_reach()[which].clone();
            let before = labels.clone();
            let result = result_taint(&reach, context, &labels);
            prop_assert!(!matches!(reach, Reach::Files(_)) || result >= labels.under("page.html"));
            context = context.join(result);
            labels.changed("page.html", context.join(other));
            prop_assert!(labels.under("page.html") >= context.join(before.under("page.html")));
            if reach.can_change_any_file() {
                labels.may_all_have_changed(context);
                prop_assert!(labels.under("elsewhere") >= context);
            }
            prop_assert!(labels.whole() >= before.whole());
        }
    }
}
