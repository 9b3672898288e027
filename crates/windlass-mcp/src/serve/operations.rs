//! What one execution may tell its owner and read of it, as tools (contracts §6): the kinds of claims, and the read-only operations that
//! its owner has something for. Which there are is a function of what the execution has; nothing reaches beyond it. Pure.

use serde_json::{Map, Value};
use windlass_domain::execution::{Claim, ClaimKind, LONGEST_CLAIM, LONGEST_LISTED, MOST_ARTIFACTS, MOST_CHOICES};

use crate::serve::tool::{Effect, Kind, Parameter, Tool};

const LONGEST_NAME: usize = 200;

/// What there is to read for an execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holdings {
    pub objective: bool,
    /// It works on an atom of a work graph.
    pub graph: bool,
    pub plan: bool,
    pub memos: bool,
    pub artifacts: bool,
}

/// One read-only question to the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    Objective,
    /// Without a name, the one that the execution works on.
    Atom {
        atom: Option<String>,
    },
    Bindings,
    Memo {
        query: String,
        limit: usize,
    },
    Artifact {
        name: String,
        offset: usize,
        limit: usize,
    },
    Plan,
}

/// A call that fits its tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operation {
    /// Told under a name that the agent gave it, if it did.
    Claim {
        event: Option<String>,
        claim: Claim,
    },
    Read(Read),
}

const EVENT: &str = "event";
const EVENT_PARAMETER: Parameter = Parameter::optional(
    EVENT,
    "A name of your own for this message. Sent again under the same name, it counts once.",
    Kind::Text { most: LONGEST_NAME },
);

const PROGRESS: Tool = Tool {
    name: "progress",
    description: "Tell the people who watch what you have done and what comes next. It changes nothing; go on working.",
    parameters: &[
        Parameter::required("summary", "One or two sentences.", Kind::Text { most: LONGEST_CLAIM }),
        Parameter::optional("percent", "How much of the task is done.", Kind::Whole { least: 0, most: 100 }),
        EVENT_PARAMETER,
    ],
    effect: Effect::Adds,
};

const NEEDS_INPUT: Tool = Tool {
    name: "needs_input",
    description: "Ask the person whose task this is a question that you cannot answer from the workspace. Then end your turn: the \
                  answer is your next message.",
    parameters: &[
        Parameter::required(
            "question",
            "The question, with what one must know to answer it.",
            Kind::Text { most: LONGEST_CLAIM },
        ),
        Parameter::optional(
            "choices",
            "Answers to choose from.",
            Kind::Texts { most: MOST_CHOICES, each: LONGEST_LISTED },
        ),
        EVENT_PARAMETER,
    ],
    effect: Effect::Adds,
};

const BLOCKED: Tool = Tool {
    name: "blocked",
    description: "Say that you cannot go on, and what would have to happen first. Then end your turn.",
    parameters: &[
        Parameter::required(
            "reason",
            "What is in the way, and who could remove it.",
            Kind::Text { most: LONGEST_CLAIM },
        ),
        EVENT_PARAMETER,
    ],
    effect: Effect::Adds,
};

const READY_FOR_VERIFICATION: Tool = Tool {
    name: "ready_for_verification",
    description: "Say that the work is ready to be checked. The checks of the task decide, not you; if they fail you are told why.",
    parameters: &[Parameter::required("summary", "What you did.", Kind::Text { most: LONGEST_CLAIM }), EVENT_PARAMETER],
    effect: Effect::Adds,
};

const COMPLETED_CLAIM: Tool = Tool {
    name: "completed_claim",
    description: "Say that you are done. It is believed when the checks of the task pass.",
    parameters: &[
        Parameter::required(
            "summary",
            "What you did, and what whoever goes on needs to know.",
            Kind::Text { most: LONGEST_CLAIM },
        ),
        Parameter::optional(
            "artifacts",
            "Files of the workspace that hold the result, as paths below it.",
            Kind::Texts { most: MOST_ARTIFACTS, each: LONGEST_LISTED },
        ),
        EVENT_PARAMETER,
    ],
    effect: Effect::Adds,
};

const FAILED_CLAIM: Tool = Tool {
    name: "failed_claim",
    description: "Give up. The attempt ends, and the checks run once more to see what there is.",
    parameters: &[
        Parameter::required("reason", "Why it cannot be done this way.", Kind::Text { most: LONGEST_CLAIM }),
        EVENT_PARAMETER,
    ],
    effect: Effect::Ends,
};

const NOTE: Tool = Tool {
    name: "note",
    description: "Leave a remark in the record of this task. It changes nothing.",
    parameters: &[Parameter::required("text", "The remark.", Kind::Text { most: LONGEST_CLAIM }), EVENT_PARAMETER],
    effect: Effect::Adds,
};

const GET_OBJECTIVE: Tool = Tool {
    name: "get_objective",
    description: "The objective that your task serves: its goal, when it is reached, its constraints.",
    parameters: &[],
    effect: Effect::Reads,
};

const GET_ATOM: Tool = Tool {
    name: "get_atom",
    description: "One piece of the work: what is to be done, on what it depends, how it is checked, how it stands.",
    parameters: &[Parameter::optional("atom", "Its id. Left out, it is your own.", Kind::Text { most: LONGEST_NAME })],
    effect: Effect::Reads,
};

const LIST_BINDINGS: Tool = Tool {
    name: "list_bindings",
    description: "What the pieces that yours depends on came to: a summary of each, and its files.",
    parameters: &[],
    effect: Effect::Reads,
};

const SEARCH_MEMO: Tool = Tool {
    name: "search_memo",
    description: "Looks for words in the memos that were kept during this task.",
    parameters: &[
        Parameter::required("query", "The words.", Kind::Text { most: 1_000 }),
        Parameter::optional("limit", "So many at most; 10 unless said.", Kind::Whole { least: 1, most: 50 }),
    ],
    effect: Effect::Reads,
};

const READ_ARTIFACT: Tool = Tool {
    name: "read_artifact",
    description: "Reads a file that another piece of the work left for yours.",
    parameters: &[
        Parameter::required("name", "As list_bindings names it.", Kind::Text { most: 500 }),
        Parameter::optional(
            "offset",
            "Where to begin, in bytes; 0 unless said.",
            Kind::Whole { least: 0, most: 1 << 40 },
        ),
        Parameter::optional(
            "limit",
            "How many bytes at most; 65536 unless said.",
            Kind::Whole { least: 1, most: 256 << 10 },
        ),
    ],
    effect: Effect::Reads,
};

const GET_PLAN: Tool = Tool {
    name: "get_plan",
    description: "The plan that your task is part of, as it was approved.",
    parameters: &[],
    effect: Effect::Reads,
};

const fn claim_tool(kind: ClaimKind) -> &'static Tool {
    match kind {
        ClaimKind::Progress => &PROGRESS,
        ClaimKind::NeedsInput => &NEEDS_INPUT,
        ClaimKind::Blocked => &BLOCKED,
        ClaimKind::ReadyForVerification => &READY_FOR_VERIFICATION,
        ClaimKind::CompletedClaim => &COMPLETED_CLAIM,
        ClaimKind::FailedClaim => &FAILED_CLAIM,
        ClaimKind::Note => &NOTE,
    }
}

/// The tools of an execution: every kind of claim, and what it can read.
pub fn tools(has: Holdings) -> Vec<Tool> {
    let reads = [
        (has.objective, GET_OBJECTIVE),
        (has.graph, GET_ATOM),
        (has.graph, LIST_BINDINGS),
        (has.memos, SEARCH_MEMO),
        (has.artifacts, READ_ARTIFACT),
        (has.plan, GET_PLAN),
    ];
    let claims = ClaimKind::ALL.into_iter().map(|kind| *claim_tool(kind));
    claims.chain(reads.into_iter().filter(|(is_there, _)| *is_there).map(|(_, tool)| tool)).collect()
}

/// The operation behind a call that has no problems; nothing where there is no such tool.
pub(crate) fn operation(name: &str, mut arguments: Map<String, Value>) -> Option<Operation> {
    if let Some(kind) = ClaimKind::ALL.into_iter().find(|kind| kind.as_str() == name) {
        let event = text(&arguments, EVENT);
        arguments.remove(EVENT);
        arguments.retain(|_, value| !value.is_null());
        return Some(Operation::Claim { event, claim: Claim { kind, payload: Value::Object(arguments) } });
    }
    let number = |name: &str, unless_said: usize| {
        arguments
            .get(name)
            .and_then(Value::as_u64)
            .and_then(|number| usize::try_from(number).ok())
            .unwrap_or(unless_said)
    };
    let required = |name: &str| text(&arguments, name).unwrap_or_default();
    let read = match name {
        "get_objective" => Read::Objective,
        "get_atom" => Read::Atom { atom: text(&arguments, "atom") },
        "list_bindings" => Read::Bindings,
        "search_memo" => Read::Memo { query: required("query"), limit: number("limit", 10) },
        "read_artifact" => {
            Read::Artifact { name: required("name"), offset: number("offset", 0), limit: number("limit", 64 << 10) }
        }
        "get_plan" => Read::Plan,
        _ => return None,
    };
    Some(Operation::Read(read))
}

fn text(arguments: &Map<String, Value>, name: &str) -> Option<String> {
    arguments.get(name).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_domain::execution::MOST_OBSERVED;

    use super::*;

    const ALL: Holdings = Holdings { objective: true, graph: true, plan: true, memos: true, artifacts: true };

    fn names(has: Holdings) -> Vec<&'static str> {
        tools(has).iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn tools_mirror_the_message_kinds_plus_the_read_only_operations() {
        let kinds = ClaimKind::ALL.map(ClaimKind::as_str);
        assert_eq!(names(Holdings::default()), kinds);
        let reads = ["get_objective", "get_atom", "list_bindings", "search_memo", "read_artifact", "get_plan"];
        assert_eq!(names(ALL), [kinds.as_slice(), reads.as_slice()].concat());
    }

    #[test]
    fn what_the_execution_does_not_have_is_not_offered() {
        let plain = Holdings { plan: true, memos: true, ..Holdings::default() };
        assert_eq!(names(plain)[7..], ["search_memo", "get_plan"]);
        let atom = Holdings { objective: true, graph: true, ..Holdings::default() };
        assert_eq!(names(atom)[7..], ["get_objective", "get_atom", "list_bindings"]);
    }

    #[test]
    fn every_tool_has_an_operation_and_only_reads_claim_to_read() {
        for tool in tools(ALL) {
            let operation = operation(tool.name, Map::new()).expect(tool.name);
            assert_eq!(matches!(operation, Operation::Read(_)), tool.effect == Effect::Reads, "{}", tool.name);
        }
        assert_eq!(operation("approve", Map::new()), None);
    }

    #[test]
    fn the_name_of_a_claim_is_no_part_of_it() {
        let Value::Object(arguments) = json!({"summary": "half", "percent": null, "event": "e1"}) else {
            unreachable!("it is an object")
        };
        let claim = Claim { kind: ClaimKind::Progress, payload: json!({"summary": "half"}) };
        let expected = Operation::Claim { event: Some("e1".to_owned()), claim };
        assert_eq!(operation("progress", arguments), Some(expected));
    }

    /// A client is shown here what the registry says, and the descriptions and the name of the event besides.
    #[test]
    fn a_claim_has_the_schema_that_the_domain_gives_it() {
        for kind in ClaimKind::ALL {
            let mut schema = claim_tool(kind).described()["inputSchema"].clone();
            schema.as_object_mut().expect("an object").remove("additionalProperties");
            let properties = schema["properties"].as_object_mut().expect("an object");
            properties.remove(EVENT).expect("every claim may have a name");
            for property in properties.values_mut() {
                property.as_object_mut().expect("an object").remove("description");
            }
            assert_eq!(schema, kind.schema(), "{kind:?}");
        }
    }

    #[test]
    fn a_text_that_is_taken_is_kept_whole() {
        assert!(LONGEST_CLAIM * '🦀'.len_utf8() <= MOST_OBSERVED);
    }
}
