//! How much a model is to think before it answers: a word, or how many tokens it may take. Providers take the one or the
//! other, so that each stands for both.

use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub enum Effort {
    Low,
    Medium,
    High,
    Tokens(u32),
}

/// Anthropic takes no less.
const FEWEST: u32 = 1_024;

impl Effort {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Tokens(tokens) if tokens < Self::Medium.tokens() => "low",
            Self::Tokens(tokens) if tokens < Self::High.tokens() => "medium",
            Self::Tokens(_) => "high",
        }
    }

    pub const fn tokens(self) -> u32 {
        match self {
            Self::Low => 4_096,
            Self::Medium => 12_288,
            Self::High => 32_768,
            Self::Tokens(tokens) => tokens,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Word(String),
    Tokens(i64),
}

impl TryFrom<Written> for Effort {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Word(word) => match word.as_str() {
                "low" => Ok(Self::Low),
                "medium" => Ok(Self::Medium),
                "high" => Ok(Self::High),
                _ => Err(format!("`reasoning` is `low`, `medium`, `high` or a number of tokens, not `{word}`")),
            },
            Written::Tokens(tokens) => match u32::try_from(tokens) {
                Ok(tokens) if tokens >= FEWEST => Ok(Self::Tokens(tokens)),
                _ => Err(format!("`reasoning` in tokens must be at least {FEWEST}, not {tokens}")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_of_saying_it_stands_for_the_other() {
        for effort in [Effort::Low, Effort::Medium, Effort::High] {
            assert_eq!(Effort::Tokens(effort.tokens()).word(), effort.word());
        }
        assert_eq!((Effort::Tokens(1_024).word(), Effort::Tokens(99_999).word()), ("low", "high"));
    }
}
