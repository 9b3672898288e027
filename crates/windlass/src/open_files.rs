//! How many files this process may have open. A shell often allows 1,024, which people who connect and say nothing would use up, and
//! with them the work: its tools open files, too. A server asks for more at its start, and gives half of what it gets to connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many as anybody here needs.
const WANTED: u64 = 65_536;
const MOST_CONNECTIONS: u64 = 4_096;

/// Asks for as many as it may have, and says how many those are.
pub fn raise() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Absent: there is no limit.
    let wanted = maximum.unwrap_or(WANTED).min(WANTED);
    let Some(has) = current else { return WANTED };
    if has >= wanted {
        return has;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
        Ok(()) => wanted,
        Err(_) => has,
    }
}

/// How many connections leave enough for the work.
pub fn for_connections(open_files: u64) -> usize {
    usize::try_from((open_files / 2).min(MOST_CONNECTIONS)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_them_is_left_for_the_work() {
        assert_eq!([256, 1_024, 65_536].map(for_connections), [128, 512, 4_096]);
    }

    #[test]
    fn what_may_be_had_is_asked_for() {
        let before = getrlimit(Resource::Nofile);
        let few = Rlimit { current: Some(64), ..before };
        setrlimit(Resource::Nofile, few).unwrap();
        let raised = raise();
        assert_eq!(raised, before.maximum.unwrap_or(WANTED).min(WANTED));
        assert_eq!(getrlimit(Resource::Nofile).current, Some(raised));
    }
}
