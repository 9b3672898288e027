//! The word somebody probably meant: the closest of those that exist, if one is close enough to be worth saying.

/// The nearest of `known` to `written`, when no more than a third of its letters differ.
pub(crate) fn nearest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    const LONGEST_WORTH_COMPARING: usize = 32;
    if written.len() > LONGEST_WORTH_COMPARING {
        return None;
    }
    let written = written.to_lowercase().replace('-', "_");
    let close_enough = |word: &str| word.len().div_ceil(3);
    known
        .iter()
        .map(|word| (distance(&written, word), *word))
        .filter(|(distance, word)| *distance <= close_enough(word))
        .min()
        .map(|(_, word)| word)
}

/// How many letters must be added, removed or changed to turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for column in 0..to.len() {
            let replaced = diagonal + usize::from(to[column] != letter);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_recognised_and_a_different_word_is_not() {
        let known = ["command", "contains", "exit_code", "timeout", "run"];
        let table = [
            ("comand", Some("command")),
            ("exit-code", Some("exit_code")),
            ("Timeout", Some("timeout")),
            ("runs", Some("run")),
            ("colour", None),
            ("", None),
        ];
        for (written, expected) in table {
            assert_eq!(nearest(written, &known), expected, "{written:?}");
        }
        assert_eq!(nearest(&"a".repeat(100_000), &known), None);
    }
}
