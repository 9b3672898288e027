//! Variables that nobody reads and that are one slip away from one that is read: told, because nothing else would ever say
//! that they do nothing. Names that are further away may be another program's.

use std::ffi::OsString;

use super::WrongUse;
use super::nearest::distance;
use super::settings::variables;

/// What begins otherwise is not ours to judge.
const OURS: [&str; 6] = ["AGENT_", "SUBAGENT_", "COORDINATOR_", "CONTAINER_", "LITELLM_", "WINDLASS_"];

pub fn misspelt(set: impl Iterator<Item = (OsString, OsString)>) -> impl Iterator<Item = WrongUse> {
    set.filter_map(|(name, _)| {
        let name = name.into_string().ok()?;
        let is_ours = OURS.iter().any(|prefix| name.starts_with(prefix));
        let is_known = || variables().any(|known| known == name);
        if !is_ours || is_known() {
            return None;
        }
        let meant = variables().find(|known| distance(&name, known) == 1)?;
        Some(WrongUse::new(format!("{name} is no variable that is read; did you mean {meant}?")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_and_the_variables_of_others_are_left_alone() {
        let told = |name: &str| {
            let mut told = misspelt([(name.into(), "x".into())].into_iter()).map(|problem| problem.message);
            told.next()
        };
        let expected = "AGENT_MAX_ITERATION is no variable that is read; did you mean AGENT_MAX_ITERATIONS?";
        assert_eq!(told("AGENT_MAX_ITERATION").as_deref(), Some(expected));
        assert!(told("WINDLASS_DATADIR").is_some_and(|said| said.ends_with("WINDLASS_DATA_DIR?")));
        for fine in ["AGENT_MAX_ITERATIONS", "LITELLM_API", "CONTAINER_NAME", "WINDLASS_SEEDS", "AGENT_SMITH", "XOME"] {
            assert_eq!(told(fine), None, "{fine}");
        }
    }
}
