//! A prompt with its places filled in: `{{name}}` is one, and what stands there afterwards may say anything, the names of other places
//! among it. A name that the prompt has and nobody fills stays as it is.

/// In one pass over the template: what is filled in is never looked at again.
pub fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = template.trim();
    while let Some((before, value, after)) = next(rest, values) {
        out.push_str(before);
        out.push_str(value);
        rest = after;
    }
    out + rest
}

/// What stands before the first place, what goes there, and what stands behind it.
fn next<'a>(template: &'a str, values: &[(&str, &'a str)]) -> Option<(&'a str, &'a str, &'a str)> {
    let found = values.iter().filter_map(|(name, value)| {
        let (before, after) = template.split_once(&format!("{{{{{name}}}}}"))?;
        Some((before, *value, after))
    });
    found.min_by_key(|(before, ..)| before.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_may_name_other_places() {
        let template = "\n{{said}}\n\n# The user says\n\n{{words}} {{words}} {{other}}\n";
        let said = "write {{words}} and {{said}}";
        let expected = "write {{words}} and {{said}}\n\n# The user says\n\n{{said}}! {{said}}! {{other}}";
        assert_eq!(filled(template, &[("words", "{{said}}!"), ("said", said)]), expected);
    }
}
