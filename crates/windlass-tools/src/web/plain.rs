//! Words from a stranger on one line: markup gone, white space as single spaces, what would hide or move a cursor left out,
//! and no longer than there is room for.

use windlass_domain::is_hidden;

pub fn plain(text: &str, longest: usize) -> String {
    let mut out = String::new();
    let mut in_tag = false;
    for letter in text.chars() {
        match letter {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            _ if in_tag => {}
            letter if letter.is_whitespace() => out.push(' '),
            letter if is_hidden(letter) => {}
            letter => out.push(letter),
        }
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    let out = entities.into_iter().fold(out, |out, (entity, letter)| out.replace(entity, letter));
    let line = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.floor_char_boundary(longest);
    if end < line.len() { format!("{}…", &line[..end]) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_left_and_nothing_else() {
        assert_eq!(plain("A <strong>bold</strong>\n\tword &amp; more &lt;b&gt;", 100), "A bold word & more <b>");
        assert_eq!(plain("a\u{1b}[2J\u{202e}b\u{200b}c", 100), "a[2Jbc");
        assert_eq!(plain("long words here", 8), "long wor…");
        assert_eq!(plain("1 < 2", 100), "1");
    }
}
