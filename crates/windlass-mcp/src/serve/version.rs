//! The revisions of the protocol, and which one a conversation is held in. Pure. Up to the last of `GREETED` a client greets, and
//! the conversation keeps what was agreed on; from `PER_REQUEST` on every request says for itself what it speaks, and there is no
//! conversation at all.

/// Oldest first.
pub(crate) const GREETED: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const PER_REQUEST: &str = "2026-07-28";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Greeted,
    PerRequest,
}

/// What is answered to a greeting: what the client asked for if we know it, and otherwise the newest that has greetings. Who cannot
/// speak that goes away.
pub(crate) fn agreed(wanted: &str) -> &'static str {
    let newest = GREETED[GREETED.len() - 1];
    GREETED.into_iter().find(|known| *known == wanted).unwrap_or(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_asked_for_if_known_and_otherwise_the_newest_with_greetings() {
        for known in GREETED {
            assert_eq!(agreed(known), known);
        }
        for unknown in ["", "1999-01-01", PER_REQUEST, "2025-06-18 ", "zzz"] {
            assert_eq!(agreed(unknown), "2025-11-25", "{unknown}");
        }
    }
}
