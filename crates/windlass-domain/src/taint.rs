//! Where data came from, joined over everything in a context: owner < auth < external. It only ever rises along data
//! flow, and there is no default: what carries no label is external.

use serde::{Deserialize, Deserializer, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Taint {
    /// Signed by the owner's key.
    Owner,
    /// Came over an authenticated channel, or stood in the workspace when the task began.
    Auth,
    /// Everything else.
    External,
}

impl Taint {
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        self.max(other)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Auth => "auth",
            Self::External => "external",
        }
    }

    /// A label as it was stored or sent. A word we do not know is no reason to trust anything.
    pub fn from_label(label: &str) -> Self {
        match label {
            "owner" => Self::Owner,
            "auth" => Self::Auth,
            _ => Self::External,
        }
    }

    /// For `#[serde(default = …)]`: a missing label.
    pub const fn missing() -> Self {
        Self::External
    }
}

impl<'de> Deserialize<'de> for Taint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|label| Self::from_label(&label))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_never_lowers() {
        let all = [Taint::Owner, Taint::Auth, Taint::External];
        for a in all {
            for b in all {
                assert!(a.join(b) >= a && a.join(b) >= b && a.join(b) == b.join(a));
            }
        }
    }

    #[test]
    fn an_unknown_label_is_external() {
        let label: Taint = serde_json::from_str("\"trusted\"").expect("any string is a label");
        assert_eq!(label, Taint::External);
    }
}
