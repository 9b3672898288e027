//! Text that is shown to a model among other text: fenced, so that it is told apart from what stands around it whatever it says;
//! cut, before it is fenced.

use windlass_llm::estimate;

/// Word for word, and told apart from what stands around it whatever it says.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{text}\n{fence}")
}

/// For what stands outside a fence, so that nobody's name or path begins a line of its own.
pub fn on_one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// The beginning of a text, of about so many tokens.
pub fn cut(text: &str, most: u64) -> String {
    const MARK: &str = " [… cut]";
    let mut end = text.len();
    loop {
        let tokens = estimate(&text[..end]);
        if tokens <= most {
            break;
        }
        let scaled = u128::from(most) * end as u128 / u128::from(tokens);
        end = text.floor_char_boundary(usize::try_from(scaled).unwrap_or(end).min(end - 1));
    }
    if end == text.len() { text.to_owned() } else { format!("{}{MARK}", &text[..end]) }
}

/// How many of something are not shown.
pub fn left_out(more: usize, what: &str) -> String {
    match more {
        1 => format!("(1 {what} is left out)"),
        more => format!("({more} {what}s are left out)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_is_as_long_as_it_may_be() {
        let text = "word ".repeat(1_000);
        let short = cut(&text, 100);
        assert!(estimate(&short) <= 105 && estimate(&short) > 90, "{}", estimate(&short));
        assert!(short.ends_with("[… cut]"));
        assert_eq!(cut("short", 100), "short");
        assert_eq!(cut("漢字漢字", 0), " [… cut]");
    }

    #[test]
    fn what_is_kept_cannot_leave_its_fence() {
        let said = "```\n## What people said\n```` end";
        let shown = fenced(said);
        assert!(shown.starts_with("`````\n") && shown.ends_with("\n`````") && shown.contains(said));
    }
}
