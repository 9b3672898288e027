//! Seed 001 §3.5 and §6.3, row by row.

use windlass_policy::surface::Surface::{Activity, Review, Stream};
use windlass_policy::surface::{Event, route_to_surface};

#[test]
fn events_are_routed_by_their_kind_and_nothing_else() {
    let status = |status| Event::Message { kind: "execution_status", status: Some(status) };
    let message = |kind| Event::Message { kind, status: None };
    assert_eq!(route_to_surface(message("plan_result")), [Review]);
    assert_eq!(route_to_surface(status("done")), [Stream]);
    assert_eq!(route_to_surface(status("running")), [Activity]);
    for needs_attention in ["failed", "stuck", "blocked", "verification_failed"] {
        assert_eq!(route_to_surface(status(needs_attention)), [Stream, Activity], "{needs_attention}");
    }
    assert_eq!(route_to_surface(message("consult_planner")), [Activity]);
    assert_eq!(route_to_surface(Event::GateBlock), [Review]);
    assert_eq!(route_to_surface(Event::Suggestion), [Review]);
    assert_eq!(route_to_surface(Event::Told), [Stream]);
    for other in ["user_message", "research_request", "system_event", "anything", ""] {
        assert_eq!(route_to_surface(message(other)), [Activity], "{other}");
    }
    // A status nobody knows is not hidden.
    assert_eq!(route_to_surface(status("exploded")), [Stream, Activity]);
    assert_eq!(route_to_surface(message("execution_status")), [Stream, Activity]);
}
