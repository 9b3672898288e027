//! What a token is good for. The words do not contain one another: whoever may approve and look has both.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Look at everything of one's tenant.
    Read,
    /// Ask for work, say something to it, stop it.
    Write,
    /// Say yes or no to cards.
    Approve,
    /// What is an operator's: dead letters, the audit, metrics.
    Admin,
    /// Type into terminals.
    Terminal,
}

impl Scope {
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Approve, Self::Admin, Self::Terminal];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Approve => "approve",
            Self::Admin => "admin",
            Self::Terminal => "terminal",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownScope(pub String);

impl fmt::Display for UnknownScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = Scope::ALL.map(Scope::as_str).join(", ");
        write!(f, "there is no scope `{}`; there are {words}", self.0)
    }
}

impl std::error::Error for UnknownScope {}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(word: &str) -> Result<Self, UnknownScope> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word).ok_or_else(|| UnknownScope(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_written_the_same_way_everywhere() {
        for scope in Scope::ALL {
            assert_eq!(scope.as_str().parse(), Ok(scope));
            assert_eq!(serde_json::to_value(scope).ok(), Some(scope.as_str().into()));
        }
        assert_eq!("root".parse::<Scope>(), Err(UnknownScope("root".to_owned())));
    }
}
