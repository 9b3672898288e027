//! Whether two items may be worked on at the same time (seed 001 §7.2): not if both change the same path, or one inside the
//! other's folder, or both touch the same service. What an item changed in earlier attempts counts beside what it says.

use crate::plan::Touches;

pub fn conflicts(one: &Touches, other: &Touches) -> bool {
    let path = |path: &String| other.paths.iter().any(|beside| overlap(path, beside));
    one.services.iter().any(|service| other.services.contains(service)) || one.paths.iter().any(path)
}

/// The same, or one below the other.
fn overlap(one: &str, other: &str) -> bool {
    let below = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    below(one, other) || below(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touches(paths: &[&str], services: &[&str]) -> Touches {
        let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        Touches { paths: owned(paths), services: owned(services) }
    }

    #[test]
    fn the_same_path_a_folder_around_it_and_the_same_service() {
        let check = |one: &Touches, other: &Touches, expected| {
            assert_eq!((conflicts(one, other), conflicts(other, one)), (expected, expected), "{one:?} {other:?}");
        };
        check(&touches(&["src/a.rs"], &[]), &touches(&["src/a.rs"], &[]), true);
        check(&touches(&["src"], &[]), &touches(&["src/a/b.rs"], &[]), true);
        check(&touches(&["src/a"], &[]), &touches(&["src/ab"], &[]), false);
        check(&touches(&[], &["staging"]), &touches(&["x"], &["staging"]), true);
        check(&touches(&["a"], &["s"]), &touches(&["b"], &["t"]), false);
        check(&touches(&[], &[]), &touches(&[], &[]), false);
    }
}
