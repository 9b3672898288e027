//! The name that was probably meant.

/// The nearest of `known` to `written`, when one is near: a name inside the other, or a few letters apart.
pub(crate) fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase();
    let rank = |name: &str| {
        let contained = !name.is_empty() && (written.contains(name) || name.contains(&written));
        let distance = distance(&written, name);
        (distance <= (name.len() / 3).max(2) || contained).then_some(distance)
    };
    known.into_iter().filter_map(|name| rank(name).map(|rank| (rank, name))).min().map(|(_, name)| name)
}

/// Letters to insert, delete or replace.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, against) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *against);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let check = |written: &str, expected: Option<&str>| {
            assert_eq!(nearest(written, ["content", "limit", "offset", "path"]), expected, "{written}");
        };
        check("file_path", Some("path"));
        check("Path", Some("path"));
        check("pth", Some("path"));
        check("contents", Some("content"));
        check("offfset", Some("offset"));
        check("recursive", None);
        check("", Some("path"));
    }
}
