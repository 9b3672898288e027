//! The list of cases. Each is a function of one empty store and knows nothing of the provider behind it.

use std::sync::Arc;

use windlass_domain::{BoxFuture, Runtime};

use crate::conformance::{
    blobs, chains, claims, deliveries, expiry, guards, leases, levels, messages, notifier, places, queues, races,
    refusals, shared_queues, snapshots, streams, tenants, timers, turns,
};
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
        what_must_be_absent_is_looked_for,
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
    levels:
        a_new_version_is_written_when_the_last_old_owner_has_ended,
        an_old_owner_that_fell_silent_is_not_waited_for_for_ever,
        who_cannot_read_what_is_written_is_not_let_in,
        a_new_kind_is_written_when_the_last_old_owner_has_ended,
        messages_and_timers_are_written_for_everybody_too;
    messages:
        a_message_waits_until_it_is_acked,
        a_message_is_acked_once,
        a_message_that_was_ever_accepted_is_not_accepted_again,
        higher_priority_goes_first_then_the_older,
        a_message_is_not_seen_before_its_time,
        nobody_goes_to_sleep_on_a_message_that_it_has_not_read;
    deliveries:
        a_leased_message_is_one_consumer_s,
        only_the_present_delivery_acks_nacks_or_buries,
        an_acked_message_is_gone_for_good,
        a_message_given_back_is_ready_at_once_or_when_it_is_promoted,
        only_a_delayed_message_is_hastened,
        a_dead_letter_waits_for_a_person,
        a_retried_message_does_not_repeat_a_delivery,
        a_message_is_taken_over_from_the_dead_and_never_from_the_living,
        an_owner_that_ends_or_begins_anew_holds_no_messages,
        only_a_registered_owner_is_delivered_to,
        another_tenant_s_messages_cannot_be_touched,
        a_refused_delivery_takes_the_whole_commit_with_it;
    shared_queues:
        tenants_take_turns_then_priority_then_age,
        a_page_has_one_of_each_tenant_before_a_second_of_any,
        what_is_delayed_leased_or_dead_is_not_next,
        promoting_takes_the_earliest_and_not_too_many,
        every_holder_is_listed_however_many_messages_another_holds,
        depth_counts_what_is_ready_and_what_is_leased,
        depth_is_not_counted_beyond_what_is_said,
        dead_letters_come_in_pages_the_newest_first,
        what_a_queue_holds_about_a_stream_is_found_whatever_its_standing,
        a_message_that_becomes_ready_wakes_who_waits_for_its_queue;
    chains:
        a_chain_holds_over_commits_of_all_kinds,
        tenants_have_chains_of_their_own,
        a_head_can_be_believed_and_a_known_head_is_met,
        a_head_that_never_was_is_noticed;
    expiry:
        an_expired_lease_is_taken_over_within_a_second_and_never_before,
        a_living_owner_is_never_robbed_however_long_it_takes;
    queues:
        queue_enqueue_lease_ack_nack_dead_letter_lifecycle,
        queue_crash_recovery_re_lease_on_startup,
        queue_heartbeat_extension_and_lease_expiry,
        queue_processed_set_idempotency,
        duplicate_message_delivery_is_deduplicated,
        crash_mid_work_redelivery_starts_afresh_and_the_woken_consumer_commits_nothing,
        a_message_that_kills_its_consumers_ends_as_a_dead_letter,
        backoff_doubles_and_after_five_deliveries_the_letter_is_dead,
        what_may_not_enter_a_queue_is_refused_and_leaves_nothing,
        a_trace_is_copied_unchanged_and_taint_only_rises_from_hop_to_hop,
        every_handover_is_audited_in_its_own_commit,
        what_cannot_be_read_is_put_aside;
    claims:
        what_is_taken_where_it_is_enqueued_is_never_another_s,
        what_is_enqueued_for_nobody_is_not_enqueued,
        a_taken_message_outlives_its_owner,
        an_ack_may_be_part_of_a_bigger_commit,
        a_message_is_claimed_when_it_is_ready_or_delayed,
        a_message_is_claimed_from_the_dead_and_never_from_the_living,
        what_is_dead_or_not_there_or_elsewhere_is_not_claimed;
    turns:
        one_is_acked_and_the_next_taken,
        turns_are_taken_between_tenants_and_what_is_unreadable_put_aside,
        an_ack_that_is_refused_does_not_keep_the_next_from_being_taken,
        consumers_beside_one_another_take_each_message_once_and_none_is_left;
    refusals:
        what_may_not_enter_is_refused_with_its_own_word,
        a_follower_with_another_trace_is_refused,
        what_arrives_as_bytes_is_read_within_bounds_and_believed_nothing,
        whoever_lost_a_message_is_refused_and_that_is_audited,
        an_ack_out_of_order_replayed_or_for_another_tenant_is_refused,
        what_is_no_dead_letter_is_neither_retried_nor_dropped,
        what_is_put_aside_is_audited_as_refused,
        a_lost_race_is_no_refusal;
    places:
        what_names_a_place_is_taken_there_and_what_names_none_by_anybody,
        priority_age_and_turns_hold_over_places,
        what_was_left_at_a_place_is_taken_over_and_claimed_there_alone,
        a_queue_is_asked_about_all_its_places,
        what_is_no_place_is_refused;
    timers:
        timers_of_every_tenant_are_seen_by_a_process,
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
        the_taint_of_a_blob_only_rises,
        what_nothing_refers_to_is_forgotten_and_what_is_named_meanwhile_stays,
        what_somebody_put_of_late_stays,
        what_is_forgotten_can_be_put_again,
        everybody_who_has_a_stream_is_a_tenant;
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
