//! What a check is called when its writer gave it no name: what it looks at and what it expects, in a few words.

use windlass_domain::CheckProbe;

const LONGEST_NAME: usize = 80;

pub(crate) fn derived(probe: &CheckProbe) -> String {
    on_one_line(&probe.in_words())
}

/// Whether a name this long is read whole.
pub(crate) fn fits(name: &str) -> bool {
    name.chars().count() <= LONGEST_NAME
}

/// White space and control characters become single spaces, and a long text is cut.
pub(crate) fn on_one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    if fits(&line) {
        return line;
    }
    let kept: String = line.chars().take(LONGEST_NAME - 1).collect();
    format!("{kept}…")
}
