//! The list of cases. Each is a function of one empty store and knows nothing of the provider behind it.

use std::sync::Arc;

use windlass_domain::{BoxFuture, Runtime};

use crate::conformance::{blobs, guards, leases, messages, notifier, races, snapshots, streams, tenants, timers};
use crate::store::Store;

/// A case gets an empty store and the runtime that the store was opened with.
pub type Case = fn(Arc<dyn Store>, Arc<dyn Runtime>) -> BoxFuture<'static, ()>;

macro_rules! cases {
    ($($module:ident: $($case:ident),+;)+) => {
        pub const CASES: &[(&str, Case)] = &[$($(
            (
                concat!(stringify!($module), "::", stringify!($case)),
                |store, runtime| Box::pin($module::$case(store, runtime)),
            ),
        )+)+];
    };
}

cases! {
    streams:
        what_is_appended_is_read_back_in_order,
        positions_follow_commit_order_over_all_streams,
        a_page_ends_where_the_next_begins,
        streams_of_a_kind_are_listed_newest_first,
        what_was_never_written_is_empty;
    guards:
        an_expectation_that_does_not_hold_changes_nothing,
        every_expectation_must_hold,
        a_nonce_is_used_once,
        a_marker_is_new_once,
        a_refused_commit_leaves_no_trace_of_any_kind,
        a_commit_that_is_too_large_is_refused;
    leases:
        a_lease_is_held_by_one_owner_at_a_time,
        a_stale_epoch_commits_nothing,
        a_released_lease_is_free_and_its_epoch_goes_on,
        an_owner_whose_heart_beats_keeps_its_lease,
        an_owner_seen_silent_loses_its_lease_and_what_it_then_commits,
        an_owner_that_beats_at_the_last_moment_keeps_its_lease,
        retiring_frees_every_lease,
        registering_again_starts_anew,
        only_a_registered_owner_takes_a_lease;
    messages:
        a_message_waits_until_it_is_acked,
        a_message_is_acked_once,
        a_message_that_was_ever_accepted_is_not_accepted_again,
        higher_priority_goes_first_then_the_older,
        a_message_is_not_seen_before_its_time;
    timers:
        a_timer_is_seen_when_it_is_due,
        a_timer_fires_once,
        a_timer_that_was_set_anew_does_not_fire_at_its_old_time,
        a_cancelled_timer_is_gone_and_cancelling_again_is_no_error;
    snapshots:
        the_newest_snapshot_is_kept,
        a_snapshot_is_not_ahead_of_its_stream;
    blobs:
        a_blob_is_read_back_whatever_its_size,
        a_staged_blob_is_not_there_before_its_commit,
        the_taint_of_a_blob_only_rises;
    tenants:
        a_tenant_sees_its_own_rows_only,
        guards_of_different_tenants_do_not_meet;
    notifier:
        a_commit_wakes_who_waits_for_it,
        a_commit_between_reading_and_waiting_is_not_missed,
        other_topics_do_not_wake,
        without_hints_waiting_still_ends;
    races:
        of_those_who_expect_the_same_exactly_one_succeeds,
        concurrent_commits_lose_and_double_nothing,
        a_lease_raced_for_goes_to_one,
        a_nonce_raced_for_is_used_once;
}
