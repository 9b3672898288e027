//! Names in a path. What is no name of such a thing names nothing: whoever asks learns as much as about one that is not there.

use std::str::FromStr;

use http::StatusCode;
use windlass_domain::CallerName;

use crate::problems::Refusal;

pub fn named<Id: FromStr>(what: &str, name: &str) -> Result<Id, Refusal> {
    name.parse().map_err(|_| nothing(what, name))
}

pub fn nothing(what: &str, name: &str) -> Refusal {
    // It may hold anything, and is said back.
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(100).collect();
    Refusal::new(StatusCode::NOT_FOUND, "not_found", format!("there is no {what} `{name}` here"))
}

/// What may be there.
pub trait MayBe<T> {
    fn or_nothing(self, what: &str, name: &str) -> Result<T, Refusal>;
}

impl<T> MayBe<T> for Option<T> {
    fn or_nothing(self, what: &str, name: &str) -> Result<T, Refusal> {
        self.ok_or_else(|| nothing(what, name))
    }
}

/// An id or a digest of ours, as callers say names of their own.
pub fn own_name(id: impl std::fmt::Display) -> CallerName {
    id.to_string().parse().expect("ids and digests are letters, digits and dashes")
}
