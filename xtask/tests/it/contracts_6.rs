//! Contracts §6, word for word, cut where a claim ends: each piece stands beside the tests whose bodies show it, wherever those are. A test that is
//! renamed or goes away is missed here, and so is a word of §6 that is not in the list, where the design lies beside the repository.

use std::collections::BTreeSet;
use std::path::Path;

use xtask::Tree;

const DOMAIN: &str = "crates/windlass-domain/tests/it/contracts_6.rs";
const LIFECYCLE: &str = "crates/windlass-domain/tests/it/lifecycle.rs";
const FORMAT: &str = "crates/windlass-domain/tests/it/journal_format.rs";
const TIMELINE: &str = "crates/windlass-domain/tests/it/timeline.rs";
const ENGINE: &str = "crates/windlass-engine/tests/it/contracts_6.rs";
const ADAPTERS: &str = "crates/windlass-adapters/tests/it/contracts_6.rs";
const LAUNCH: &str = "crates/windlass-adapters/tests/it/launch.rs";
const RPC_LAUNCHES: &str = "crates/windlass-adapters/tests/it/json_rpc/launches.rs";
const PROTOCOLS: &str = "crates/windlass-adapters/tests/it/json_rpc/rules.rs";
const HOSTILE: &str = "crates/windlass-adapters/tests/it/hostile.rs";
const MARKERS: &str = "crates/windlass-adapters/src/runner/markers.rs";
const ON_SCREEN: &str = "crates/windlass-adapters/src/runner/screen_markers.rs";
const METER: &str = "crates/windlass-adapters/src/runner/meter.rs";
const DOOR: &str = "crates/windlass-llm/tests/it/gateway/door.rs";
const PASSING: &str = "crates/windlass-llm/tests/it/gateway/passing.rs";
const CREDENTIAL: &str = "crates/windlass-llm/tests/it/gateway/credential.rs";
const ENDINGS: &str = "crates/windlass-llm/tests/it/gateway/endings.rs";
const TERMS: &str = "crates/windlass-llm/tests/it/gateway/terms.rs";
const SERVED: &str = "crates/windlass-mcp/tests/it/serve/http.rs";
const TOLD: &str = "crates/windlass-mcp/tests/it/serve/back_channel.rs";
const OPERATIONS: &str = "crates/windlass-mcp/src/serve/operations.rs";
const RECORDING: &str = "crates/windlass-terminal/tests/it/recording.rs";
const PROGRAMS: &str = "crates/windlass-terminal/tests/it/programs.rs";
const SERVING: &str = "crates/windlass-terminal/tests/it/serving.rs";
const CLI: &str = "crates/windlass/tests/it/cli/contracts_6.rs";
const FOREIGN: &str = "crates/windlass/tests/it/cli/foreign.rs";
const SCREENS: &str = "crates/windlass/tests/it/cli/screens.rs";
const BAD_SCREENS: &str = "crates/windlass/tests/it/cli/bad_screens.rs";
const SWITCHING: &str = "crates/windlass/tests/it/cli/switching.rs";
const FORKING: &str = "crates/windlass/tests/it/cli/forking.rs";
const TELLING: &str = "crates/windlass/tests/it/cli/telling.rs";
const AGENTS: &str = "crates/windlass/tests/it/cli/agents.rs";
const TIMELINES: &str = "crates/windlass/tests/it/cli/timelines.rs";

/// From the root of the repository; it is no part of it.
const DESIGN: &str = "../shared/design/contracts.md";

/// Where a test is, and its name.
type Shown = (&'static str, &'static str);

/// What §6 says, in its order, and the tests that fail when that is not so.
const CLAUSES: &[(&str, &[Shown])] = &[
    (
        "Entity: `execution_id, agent_id, scope,",
        &[
            (DOMAIN, "nothing_else_about_the_owner_is_stored"),
            (CLI, "an_executions_record_names_its_owner_and_holds_nothing_else_of_it"),
            (CLI, "without_its_agent_an_execution_is_read_and_driving_it_is_a_typed_failure"),
            (CLI, "an_agent_that_is_not_known_any_more_is_replaced_by_nobody"),
        ],
    ),
    ("lifecycle, activity, attention,", &[(LIFECYCLE, "activity_and_attention_follow_from_what_is_open")]),
    ("progress,", &[(DOMAIN, "progress_is_what_the_agent_last_said_of_it")]),
    (
        "journal ref,",
        &[
            (ENGINE, "an_attempt_and_its_executions_journal_begin_in_one_commit"),
            (ENGINE, "an_old_journal_is_read_as_it_was_written"),
        ],
    ),
    ("context and log refs,", &[(CLI, "context_and_log_are_referred_to_and_kept_apart")]),
    ("terminal ref,", &[(SCREENS, "a_terminal_has_its_executions_id_and_a_display_name")]),
    ("message registry,", &[(DOMAIN, "messages_are_described_by_descriptors_in_a_registry_computed_per_execution")]),
    ("transport, mcp availability,", &[(CLI, "transport_and_mcp_availability_are_kept_at_launch")]),
    ("launch config`;", &[(CLI, "launch_config_is_kept_with_the_execution")]),
    (
        "at launch also agent version, model and configuration digest, for audit.",
        &[
            (DOMAIN, "at_launch_agent_version_model_and_configuration_digest_are_kept_for_audit"),
            (CLI, "launch_config_is_kept_with_the_execution"),
        ],
    ),
    (
        "Nothing else about the owner is stored:",
        &[(DOMAIN, "nothing_else_about_the_owner_is_stored"), (CLI, "nothing_of_the_owners_is_in_the_schema")],
    ),
    (
        "no task labels, working directories or status aliases.",
        &[(CLI, "an_executions_record_names_its_owner_and_holds_nothing_else_of_it")],
    ),
    (
        "Who creates which scope:",
        &[(DOMAIN, "who_creates_which_scope"), (DOMAIN, "each_of_the_five_scopes_is_read_and_written_as_its_name")],
    ),
    (
        "`doctor` and `agent test`-like system work → system;",
        &[(ENGINE, "no_duty_of_the_systems_needs_an_execution_and_one_could_be_read")],
    ),
    (
        "`run` in a repository without a task → repository;",
        &[
            (ENGINE, "a_turn_of_a_conversation_is_the_repositorys"),
            (DOMAIN, "a_folder_and_a_file_are_named_by_digests_that_tell_them_apart"),
        ],
    ),
    (
        "an objective → mission; an atom → task;",
        &[
            (ENGINE, "an_atom_is_the_tasks_and_a_planner_who_is_consulted_is_the_missions"),
            (ENGINE, "a_direct_run_and_whoever_it_sends_or_has_judge_it_are_the_tasks"),
        ],
    ),
    ("a deliverable's producer → artifact.", &[(ENGINE, "a_deliverables_producer_is_the_artifacts")]),
    (
        "Lifecycle: created → launching → running ⇄ awaiting_input, running ⇄ paused; created, launching, running, awaiting_input, paused → failed | cancelled;",
        &[(LIFECYCLE, "lifecycle_has_every_drawn_transition_and_no_other")],
    ),
    (
        "launching, running → lost (then recovered → launching, or failed);",
        &[(LIFECYCLE, "what_is_lost_is_recovered_through_launching_or_fails")],
    ),
    ("running → completed.", &[(LIFECYCLE, "lifecycle_has_every_drawn_transition_and_no_other")]),
    (
        "Activity: `awaiting_agent_response, working, idle`.",
        &[(LIFECYCLE, "activity_and_attention_follow_from_what_is_open")],
    ),
    (
        "Attention: `none, needs_input, needs_approval, blocked`.",
        &[(LIFECYCLE, "activity_and_attention_follow_from_what_is_open")],
    ),
    (
        "Journal record families: `journal.header, message.accepted, message.delivery, observation.recorded, decision.recorded, state.changed, activity.updated, owner-effect.recorded, projection.recorded`,",
        &[(DOMAIN, "the_record_families_are_those_that_are_named")],
    ),
    (
        "and the native loop's `model.requested, model.responded, tool.started, tool.finished, injection.received, compaction.*, subagent.*, risk.checked, doom_loop.detected`.",
        &[
            (DOMAIN, "the_record_families_are_those_that_are_named"),
            (FORMAT, "the_kinds_of_records_are_part_of_the_format"),
        ],
    ),
    (
        "Every state change has its record in the same commit.",
        &[
            (DOMAIN, "every_state_change_has_its_record"),
            (ENGINE, "the_states_of_an_execution_are_those_of_its_records"),
        ],
    ),
    (
        "Messages to an agent are described by descriptors (`direction, kind, schema, delivery modes, starts_turn`) in a registry computed per execution.",
        &[(DOMAIN, "messages_are_described_by_descriptors_in_a_registry_computed_per_execution")],
    ),
    (
        "Turn-starting: `prompt, reply, resume, checkpoint, nudge`; others: `interrupt, stop`,",
        &[
            (DOMAIN, "turn_starting_kinds_are_prompt_reply_resume_checkpoint_and_nudge"),
            (TELLING, "words_of_a_kind_reach_a_program_at_work_and_are_recorded_as_such"),
        ],
    ),
    (
        "and `model` where the runner can switch.",
        &[
            (SWITCHING, "a_program_at_work_has_its_next_question_answered_by_the_other_model"),
            (SWITCHING, "a_model_that_is_not_configured_is_refused_and_nothing_is_sent"),
        ],
    ),
    (
        "`windlass send EXEC --kind …`.",
        &[(CLI, "a_message_is_sent_to_an_execution_by_its_id_and_its_delivery_is_recorded")],
    ),
    (
        "`message.delivery` records attempts and outcomes;",
        &[
            (CLI, "a_message_is_sent_to_an_execution_by_its_id_and_its_delivery_is_recorded"),
            (TELLING, "words_of_which_nobody_knows_whether_they_were_heard_are_said_again_and_said_to_be_that"),
            (TELLING, "an_interrupted_program_stays_and_goes_on_with_what_is_said_next"),
            (SCREENS, "what_is_sent_while_the_program_asks_something_answers_nothing_and_is_typed_afterwards"),
        ],
    ),
    (
        "a kind that cannot be delivered is a typed error.",
        &[
            (DOMAIN, "a_kind_that_cannot_be_delivered_is_a_typed_error"),
            (TELLING, "what_can_be_said_is_listed_and_what_cannot_has_a_reason"),
        ],
    ),
    (
        "Messages from an agent: `progress, needs_input, blocked, ready_for_verification, completed_claim, failed_claim, note`.",
        &[(DOMAIN, "messages_from_an_agent_are_of_seven_kinds")],
    ),
    (
        "They are claims: ready and completed change nothing until checks confirm;",
        &[
            (DOMAIN, "claims_of_success_change_nothing"),
            (FOREIGN, "ready_and_completed_are_claims_that_change_nothing_until_checks_confirm"),
        ],
    ),
    (
        "`failed_claim` ends the attempt and the checks run once.",
        &[(FOREIGN, "a_failed_claim_ends_the_attempt_and_the_checks_run_once")],
    ),
    (
        "Intake is one path whatever the transport (MCP tool, stdout marker, provider event, terminal heuristic): normalise →",
        &[(DOMAIN, "intake_is_one_path_whatever_the_transport")],
    ),
    (
        "de-duplicate by (execution, event id), durably →",
        &[
            (DOMAIN, "observations_are_de_duplicated_by_execution_and_event_id_durably"),
            (FOREIGN, "a_question_that_is_told_twice_is_put_once"),
        ],
    ),
    (
        "decide (`accepted, recorded_only, rejected, needs_verification`, with a reason) →",
        &[(DOMAIN, "intake_comes_to_one_of_four_decisions_with_a_reason")],
    ),
    ("journal → effect on the owner.", &[(FOREIGN, "what_was_decided_is_journaled_before_its_effect_on_the_owner")]),
    (
        "Stdout marker: one line, prefix `@task::` (or `@mission::`, `@repository::`, `@artifact::`, `@system::`) then strict JSON `{execution, nonce, event, kind, payload}`;",
        &[
            (MARKERS, "a_marker_is_one_line_of_strict_json_with_the_execution_and_its_nonce"),
            (MARKERS, "the_instructions_show_a_marker_that_is_read_whatever_the_scope_is"),
        ],
    ),
    (
        "the nonce is per execution;",
        &[
            (MARKERS, "a_marker_is_one_line_of_strict_json_with_the_execution_and_its_nonce"),
            (ON_SCREEN, "what_is_half_painted_or_of_another_is_not_heeded"),
        ],
    ),
    (
        "never read from tool output where the channel separates it.",
        &[(FOREIGN, "a_marker_in_a_tools_output_is_not_read")],
    ),
    ("Instructions are mandatory for task scope.", &[(ADAPTERS, "marker_instructions_are_given_to_every_agent")]),
    (
        "Malformed, oversized (64 KiB), foreign",
        &[
            (MARKERS, "a_marker_is_one_line_of_strict_json_with_the_execution_and_its_nonce"),
            (FOREIGN, "a_marker_of_another_execution_is_a_diagnostic"),
        ],
    ),
    (
        "or repeated markers are diagnostics.",
        &[
            (FOREIGN, "a_question_that_is_told_twice_is_put_once"),
            (SCREENS, "what_is_told_under_a_name_from_before_it_was_started_anew_is_said_to_count_for_nothing"),
        ],
    ),
    (
        "MCP: per-execution endpoint and capability token",
        &[(SERVED, "who_is_not_let_in_learns_nothing"), (CLI, "the_proxy_carries_mcp")],
    ),
    ("that dies with the execution;", &[(SERVED, "an_endpoint_dies_with_its_execution")]),
    (
        "tools mirror the message kinds plus read-only semantic operations (`get_objective, get_atom, list_bindings, search_memo, read_artifact, get_plan`),",
        &[
            (OPERATIONS, "tools_mirror_the_message_kinds_plus_the_read_only_operations"),
            (OPERATIONS, "every_tool_has_an_operation_and_only_reads_claim_to_read"),
            (TOLD, "claims_are_told_under_their_names_and_without_one_under_a_new_one"),
        ],
    ),
    (
        "scope-bound, each read journaled.",
        &[
            (ENGINE, "semantic_operations_are_scope_bound_and_each_read_is_journaled"),
            (OPERATIONS, "what_the_execution_does_not_have_is_not_offered"),
        ],
    ),
    (
        "If an adapter declares MCP and provisioning fails, the launch fails; no silent downgrade.",
        &[
            (HOSTILE, "claude_code_does_not_work_without_the_tools_that_it_was_given"),
            (CLI, "who_asks_its_model_without_the_tools_it_was_given_is_ended_in_both_modes"),
            (CLI, "that_an_agent_has_its_tools_is_seen_at_our_own_end_and_recorded"),
            (PROTOCOLS, "an_agent_without_its_mcp_server_does_not_work"),
            (LAUNCH, "what_a_program_cannot_do_is_said_at_the_launch"),
        ],
    ),
    (
        "Adapters are pure translation (the `Adapter` port).",
        &[(HOSTILE, "a_stream_told_twice_has_the_same_names"), (HOSTILE, "no_bytes_make_a_conversation_panic")],
    ),
    (
        "Foreign agents run in the sandbox with a scratch home;",
        &[
            (CLI, "foreign_agents_run_in_the_sandbox_with_a_scratch_home"),
            (FOREIGN, "what_would_loosen_the_rules_is_out_of_the_home_before_each_launch"),
        ],
    ),
    (
        "their model endpoint is a per-execution Windlass proxy",
        &[(DOOR, "only_the_key_opens_and_only_under_the_own_name")],
    ),
    (
        "that injects the real credential,",
        &[
            (PASSING, "what_goes_up_is_the_agents_request_under_our_name_and_with_our_key"),
            (CREDENTIAL, "no_answer_and_no_error_tells_the_key"),
            (LAUNCH, "the_key_is_on_no_command_line"),
        ],
    ),
    ("meters,", &[(ENDINGS, "a_whole_answer_is_paid_for_as_it_says")]),
    (
        "enforces the budget",
        &[
            (METER, "fifty_that_ask_at_once_spend_no_more_than_there_is"),
            (TERMS, "an_answer_is_as_short_as_what_is_left_whatever_the_request_says"),
        ],
    ),
    ("and carries MCP;", &[(CLI, "the_proxy_carries_mcp"), (DOOR, "others_share_the_address_behind_the_same_door")]),
    (
        "no other egress.",
        &[
            (FOREIGN, "it_reaches_its_model_and_nothing_else"),
            (PASSING, "no_agent_reaches_outside_by_way_of_its_model"),
        ],
    ),
    (
        "Permission-bypass flags are never used in the product.",
        &[
            (ADAPTERS, "permission_bypass_flags_are_never_used"),
            (RPC_LAUNCHES, "no_launch_allows_everything"),
            (FOREIGN, "one_that_does_not_ask_is_not_worked_with"),
        ],
    ),
    (
        "`agent test` launches, exchanges one bounded prompt,",
        &[(AGENTS, "it_is_over_in_time"), (AGENTS, "whatever_it_asks_for_the_answer_is_no")],
    ),
    (
        "and reports found/version/auth/structured/ms without creating an execution.",
        &[(AGENTS, "a_program_that_answers_works_and_leaves_nothing_behind")],
    ),
    (
        "Terminal: `id`, owner metadata, display name;",
        &[(SCREENS, "a_terminal_has_its_executions_id_and_a_display_name")],
    ),
    (
        "`open, attach, read, input, resize, kill`,",
        &[
            (PROGRAMS, "a_program_has_a_terminal_of_its_size_that_can_be_typed_into"),
            (PROGRAMS, "everybody_who_looks_on_sees_the_same_and_whoever_comes_late_sees_all_of_it"),
            (PROGRAMS, "a_size_is_told_once_and_a_kill_reaches_whoever_started_it"),
        ],
    ),
    (
        "reconcile after restart;",
        &[
            (SCREENS, "after_a_kill_viewers_are_told_the_name_left_behind_goes_and_the_recording_goes_on"),
            (SERVING, "a_name_that_was_left_behind_is_told_from_one_that_is_in_use_and_goes"),
        ],
    ),
    (
        "screen snapshot + ordered updates,",
        &[(PROGRAMS, "everybody_who_looks_on_sees_the_same_and_whoever_comes_late_sees_all_of_it")],
    ),
    (
        "exit state;",
        &[
            (SERVING, "everybody_sees_it_types_into_it_and_hears_how_it_ended"),
            (BAD_SCREENS, "a_program_that_is_killed"),
        ],
    ),
    ("recorded as asciicast", &[(RECORDING, "it_is_an_asciicast")]),
    ("(output only, never input),", &[(RECORDING, "it_holds_what_was_printed_and_never_what_was_typed")]),
    ("apart from the semantic journal.", &[(SCREENS, "what_a_screen_shows_is_recorded_apart_from_the_journal")]),
    ("Structured channel by default;", &[(CLI, "transport_and_mcp_availability_are_kept_at_launch")]),
    (
        "`--terminal` runs the agent's own TUI.",
        &[(SCREENS, "at_a_terminal_the_agents_screen_is_seen_and_typed_into_and_checks_decide")],
    ),
    (
        "Timeline: derived from the journal, never stored as truth.",
        &[
            (DOMAIN, "the_timeline_is_derived_from_the_journal_and_never_stored"),
            (TIMELINE, "the_native_loop_begins_another_turn_with_what_is_said"),
            (TIMELINES, "the_turns_of_a_program"),
        ],
    ),
    (
        "`fork` of a foreign execution only where the agent can;",
        &[
            (FORKING, "a_program_forks_its_own_conversation_in_a_copy_of_its_home"),
            (LAUNCH, "what_a_program_says_it_can_do_it_can"),
            (FORKING, "an_agent_that_cannot_fork_is_not_forked_and_that_is_said"),
        ],
    ),
    (
        "otherwise a clear error.",
        &[
            (FORKING, "an_agent_that_cannot_fork_is_not_forked_and_that_is_said"),
            (FORKING, "a_program_whose_home_is_gone_is_not_forked"),
            (PROTOCOLS, "an_agent_that_cannot_fork_says_so"),
        ],
    ),
];

/// What is otherwise on purpose: how the clause begins, and how `ARCHITECTURE.md` says so. The tests beside such a clause show what is instead.
const OTHERWISE: &[(&str, &str)] = &[
    ("Journal record families:", "Contracts §6 names `activity.updated` and `projection.recorded`."),
    (
        "`run` in a repository without a task",
        "A `run` in a repository has the scope `task`, where contracts §6 says `repository`",
    ),
    (
        "the nonce is per execution;",
        "The nonce of markers is of each start of a program, where contracts §6 has one for an execution",
    ),
];

/// The lines between `#[test]` and the function, which may be attributes.
fn is_a_test(text: &str, name: &str) -> bool {
    let Some(at) = text.find(&format!("fn {name}(")) else { return false };
    let before = text[..at].lines().rev().skip_while(|line| line.trim() == "async" || line.trim().is_empty());
    before.take_while(|line| line.trim_start().starts_with("#[")).any(|line| line.contains("test"))
}

#[test]
fn every_clause_of_contracts_6_has_its_tests() {
    let tree = Tree::of_this_repository().expect("the repository can be read");
    for (clause, tests) in CLAUSES {
        assert!(!tests.is_empty(), "nothing shows: {clause}");
        for (file, test) in *tests {
            assert!(tree.text(file).is_some_and(|text| is_a_test(text, test)), "{clause}: {file} has no test {test}");
        }
    }
}

#[test]
fn what_is_otherwise_on_purpose_is_said_in_the_architecture() {
    let tree = Tree::of_this_repository().expect("the repository can be read");
    let architecture = tree.text("ARCHITECTURE.md").expect("it is there");
    for (clause, said) in OTHERWISE {
        assert_eq!(CLAUSES.iter().filter(|(listed, _)| listed.starts_with(clause)).count(), 1, "{clause}");
        assert!(architecture.contains(said), "{said}");
    }
}

/// All of the section, whatever its lines and bullets.
fn section_6(contracts: &str) -> Vec<&str> {
    let from = contracts.lines().skip_while(|line| !line.starts_with("## 6.")).skip(1);
    let lines = from.take_while(|line| !line.starts_with("## "));
    lines.flat_map(|line| line.strip_prefix("- ").unwrap_or(line).split_whitespace()).collect()
}

/// The first word that one has and the other has not, with what stands before it.
fn parting(said: &[&str], listed: &[&str]) -> Option<String> {
    let same = said.iter().zip(listed).take_while(|(said, listed)| said == listed).count();
    let around = |words: &[&str]| words[same.saturating_sub(8)..words.len().min(same + 4)].join(" ");
    (said.len() != same || listed.len() != same)
        .then(|| format!("§6 has:      {}\nthe list has: {}", around(said), around(listed)))
}

/// Without the design at hand the list is what there is.
#[test]
fn the_list_is_contracts_6_word_for_word() {
    let design = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(DESIGN);
    let Ok(contracts) = std::fs::read_to_string(design) else { return };
    let listed: Vec<&str> = CLAUSES.iter().flat_map(|(clause, _)| clause.split_whitespace()).collect();
    let parted = parting(&section_6(&contracts), &listed);
    assert!(parted.is_none(), "{}", parted.unwrap_or_default());
}

#[test]
fn a_word_that_is_missing_is_found() {
    let contracts = "## 5. Other\n- no\n## 6. This\n\n- One thing;\n  another.\n- A third.\n\n## 7. Next\n";
    let said = section_6(contracts);
    assert_eq!(said, ["One", "thing;", "another.", "A", "third."]);
    assert_eq!(parting(&said, &said), None);
    for listed in [&said[..3], &["One", "thing;", "A", "third."][..], &[&said[..], &["more"]].concat()] {
        assert!(parting(&said, listed).is_some(), "{listed:?}");
    }
}

/// A module that nobody names is compiled by nobody.
#[test]
fn the_modules_of_the_tests_are_compiled() {
    let tree = Tree::of_this_repository().expect("the repository can be read");
    let files: BTreeSet<&str> = CLAUSES.iter().flat_map(|(_, tests)| tests.iter().map(|(file, _)| *file)).collect();
    for file in files {
        let (folder, name) = file.rsplit_once('/').expect("a path");
        let module = format!("mod {};", name.trim_end_matches(".rs"));
        let named = ["main.rs", "mod.rs", "lib.rs"].map(|index| format!("{folder}/{index}"));
        let is_named = named.iter().any(|index| tree.text(index).is_some_and(|text| text.contains(&module)));
        assert!(is_named, "{file}");
    }
}

#[test]
fn a_test_is_told_from_what_is_none() {
    let text = "#[test]\nfn one() {}\n\nfn two() {}\n\n#[tokio::test]\n#[expect(x)]\nasync fn three() {}\n";
    assert_eq!(["one", "two", "three", "four"].map(|name| is_a_test(text, name)), [true, false, true, false]);
}
