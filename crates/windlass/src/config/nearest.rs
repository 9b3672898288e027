//! Which of the known words somebody may have meant: the one that the fewest slips of the hand away, where they are few.

/// `None`: nothing is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (word.chars().count() / 3).max(1);
    let by_distance = known.into_iter().map(|known| (distance(word, known), known));
    by_distance.filter(|(slips, _)| *slips <= most).min_by_key(|(slips, _)| *slips).map(|(_, known)| known)
}

/// How many letters were left out, put in, taken for others or swapped with their neighbours.
pub fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for row in 1..=one.len() {
        let mut this = vec![row];
        for column in 1..=other.len() {
            let differs = usize::from(one[row - 1] != other[column - 1]);
            let mut least = (above[column] + 1).min(this[column - 1] + 1).min(above[column - 1] + differs);
            let is_swapped =
                row > 1 && column > 1 && one[row - 1] == other[column - 2] && one[row - 2] == other[column - 1];
            if is_swapped {
                least = least.min(before[column - 2] + 1);
            }
            this.push(least);
        }
        before = std::mem::replace(&mut above, this);
    }
    above[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        for (one, other, slips) in
            [("", "", 0), ("", "ab", 2), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "xbz", 2)]
        {
            assert_eq!((distance(one, other), distance(other, one)), (slips, slips), "{one} {other}");
        }
    }

    #[test]
    fn what_is_meant_is_found_and_nothing_is_made_up() {
        let known = ["readonly_mounts", "env", "network", "allowed_hosts"];
        for (word, meant) in [
            ("readonly_mount", Some("readonly_mounts")),
            ("netwrok", Some("network")),
            ("allow_hosts", Some("allowed_hosts")),
            ("evn", Some("env")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }
}
