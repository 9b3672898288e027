//! Markers on a screen. A program with a screen of its own breaks lines where they end and puts bullets before them, so that a marker is put
//! together again from where it begins. Whoever printed it nobody can tell there: it is the nonce that says it was the agent.

use super::markers::{Marker, Markers};

/// A marker is on no more lines than this.
const MOST_LINES: usize = 40;

/// Those that are whole, oldest first. What merely looks like one, or is still being painted, is none.
pub fn read(markers: &Markers, lines: &[String]) -> Vec<Marker> {
    let begins = (0..lines.len()).filter_map(|at| Some((at, begun(&lines[at])?)));
    begins.filter_map(|(at, first)| put_together(markers, first, &lines[at + 1..])).collect()
}

/// From the prefix on, where nothing but decoration stands before it.
fn begun(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(|letter: char| !letter.is_alphanumeric() && letter != '@');
    text.starts_with('@').then_some(text)
}

/// A break stood for a blank, or for nothing: which of the two, the parser tells.
fn put_together(markers: &Markers, first: &str, rest: &[String]) -> Option<Marker> {
    let first = first.trim_end_matches(is_margin);
    let (mut spaced, mut fused) = (first.to_owned(), first.to_owned());
    let mut refused = None;
    for next in std::iter::once(None).chain(rest.iter().take(MOST_LINES).map(Some)) {
        if let Some(next) = next {
            let next = next.trim_matches(is_margin);
            spaced.push(' ');
            spaced.push_str(next);
            fused.push_str(next);
        }
        for whole in [&spaced, &fused].into_iter().filter(|whole| whole.ends_with('}')) {
            match markers.read(whole).next() {
                Some(told @ Marker::Told(_)) => return Some(told),
                Some(Marker::Refused(why)) if is_json(whole) => refused = Some(Marker::Refused(why)),
                _ => {}
            }
        }
    }
    refused
}

fn is_json(marker: &str) -> bool {
    let begin = marker.find('{').unwrap_or(0);
    serde_json::from_str::<serde_json::Value>(&marker[begin..]).is_ok()
}

/// What stands beside the words: blanks, frames and bars that show how far one has scrolled.
fn is_margin(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '\u{2500}'..='\u{259f}' | '|')
}

#[cfg(test)]
mod tests {
    use windlass_domain::execution::{Observation, Observed};
    use windlass_domain::{ExecutionId, ScopeKind, Wall};

    use super::*;

    fn markers() -> Markers {
        Markers { execution: ExecutionId::new(Wall::default(), 7), scope: ScopeKind::Task, nonce: "n1".to_owned() }
    }

    fn whole(nonce: &str, message: &str) -> String {
        let execution = markers().execution;
        format!(
            r#"@task::{{"execution":"{execution}","nonce":"{nonce}","event":"1","kind":"progress","payload":{{"message":"{message}"}}}}"#
        )
    }

    fn check(lines: &[&str], expected: &[Result<&str, &str>]) {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let found: Vec<Result<String, &str>> = read(&markers(), &lines)
            .into_iter()
            .map(|marker| match marker {
                Marker::Told(Observed { observation: Observation::Claimed(claim), .. }) => {
                    Ok(claim.words().unwrap_or_default().to_owned())
                }
                Marker::Told(other) => panic!("{other:?}"),
                Marker::Refused(why) => Err(why),
            })
            .collect();
        let found: Vec<Result<&str, &str>> =
            found.iter().map(|one| one.as_ref().map(String::as_str).map_err(|why| *why)).collect();
        assert_eq!(found, expected, "{lines:?}");
    }

    #[test]
    fn a_marker_is_put_together_wherever_the_screen_has_broken_it() {
        let marker = whole("n1", "half of it");
        check(&["words", &format!("● {marker}"), "more"], &[Ok("half of it")]);
        for at in 8..marker.len() {
            let (one, other) = marker.split_at(at);
            let is_blank = other.starts_with(' ') || one.ends_with(' ');
            let lines = [format!("⏺ {}   ┃", one.trim_end()), format!("│  {} │", other.trim_start())];
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            // A break inside of a word of the message is a blank in it: nobody can tell.
            let found = read(&markers(), &lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
            assert!(matches!(found.as_slice(), [Marker::Told(_)]), "{lines:?}: {found:?}");
            if is_blank {
                check(&lines, &[Ok("half of it")]);
            }
        }
    }

    #[test]
    fn what_is_half_painted_or_of_another_is_not_heeded() {
        let marker = whole("n1", "x");
        check(&[&marker[..marker.len() - 1]], &[]);
        check(&[&format!("print {marker}")], &[]);
        check(&[&whole("n2", "x")], &[Err("its nonce is not that of this launch")]);
        check(&["@task::{", "and nothing"], &[]);
        check(&["someone@task::"], &[]);
    }
}
