//! What the payload of a claim holds, kind by kind: one law for the registry, the tools of ours that mirror the kinds, and markers. A payload that calls
//! its words otherwise is read all the same (`Claim::words`): what was said once is never lost for its form.

use serde_json::{Map, Value, json};

use super::observation::ClaimKind;

/// Of one text, so that what is claimed stays below what is kept of an observation, whatever the alphabet.
pub const LONGEST_CLAIM: usize = 16_000;
/// Of a list of answers or of files.
pub const LONGEST_LISTED: usize = 500;
pub const MOST_CHOICES: usize = 20;
pub const MOST_ARTIFACTS: usize = 50;

/// Something besides the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extra {
    Percent,
    Choices,
    Artifacts,
}

impl ClaimKind {
    /// The field that its words stand in. Every claim has words.
    pub const fn words_in(self) -> &'static str {
        match self {
            Self::NeedsInput => "question",
            Self::Blocked | Self::FailedClaim => "reason",
            Self::Progress | Self::ReadyForVerification | Self::CompletedClaim => "summary",
            Self::Note => "text",
        }
    }

    /// What it may have besides.
    pub const fn extra(self) -> Option<Extra> {
        match self {
            Self::Progress => Some(Extra::Percent),
            Self::NeedsInput => Some(Extra::Choices),
            Self::CompletedClaim => Some(Extra::Artifacts),
            Self::Blocked | Self::ReadyForVerification | Self::FailedClaim | Self::Note => None,
        }
    }

    /// Of the payload.
    pub fn schema(self) -> Value {
        let words = json!({"type": "string", "minLength": 1, "maxLength": LONGEST_CLAIM});
        let mut properties = Map::from_iter([(self.words_in().to_owned(), words)]);
        properties.extend(self.extra().map(|extra| (extra.name().to_owned(), extra.schema())));
        json!({"type": "object", "properties": properties, "required": [self.words_in()]})
    }
}

impl Extra {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Percent => "percent",
            Self::Choices => "choices",
            Self::Artifacts => "artifacts",
        }
    }

    fn schema(self) -> Value {
        let texts = |most: usize| json!({"type": "array", "maxItems": most, "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_LISTED}});
        match self {
            Self::Percent => json!({"type": "integer", "minimum": 0, "maximum": 100}),
            Self::Choices => texts(MOST_CHOICES),
            Self::Artifacts => texts(MOST_ARTIFACTS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::{AnsweredBy, Carrier, Claim, Hearer, Lifecycle};

    #[test]
    fn the_registry_says_what_a_claim_holds() {
        let hearer = Hearer {
            carrier: Carrier::Foreign,
            can_be_steered: true,
            lifecycle: Lifecycle::Running,
            answered_by: AnsweredBy::Model,
        };
        let registry = hearer.registry();
        for kind in ClaimKind::ALL {
            let listed = registry.iter().find(|one| one.kind == kind.as_str()).expect("every kind is there");
            assert_eq!(listed.schema["required"], json!([kind.words_in()]), "{kind:?}");
        }
    }

    #[test]
    fn words_and_choices_are_found_in_whatever_form_they_come() {
        let claim = |payload: Value| Claim { kind: ClaimKind::NeedsInput, payload };
        let asked = claim(json!({"message": "beside it", "question": "Which?", "choices": ["a\n b", "", 7, "c"]}));
        assert_eq!((asked.words(), asked.choices()), (Some("Which?"), vec!["a b".to_owned(), "c".to_owned()]));
        for payload in [json!("Which?"), json!({"message": "Which?"}), json!({"summary": "Which?"})] {
            let asked = claim(payload);
            assert_eq!((asked.words(), asked.choices()), (Some("Which?"), Vec::new()));
        }
    }
}
