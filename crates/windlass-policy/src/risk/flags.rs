//! The options among a program's arguments, however they are spelt: apart, clustered, shortened, with `=`.

use std::collections::BTreeSet;

use super::shell::Arg;
use super::table::ProgramRule;

#[derive(Debug, Default)]
pub struct Flags<'a> {
    pub short: BTreeSet<char>,
    /// After two dashes, without `=…`.
    long: BTreeSet<&'a str>,
    /// After one dash, for programs such as `find`.
    words: BTreeSet<&'a str>,
    /// Options with the values that they were given.
    values: Vec<(String, Arg)>,
    /// What is neither an option nor the value of one.
    pub operands: Vec<&'a Arg>,
    /// The first option that the table does not know, if it names those of this program.
    pub unknown: Option<String>,
}

/// An option that takes a value takes the next argument with it; where the table does not say so it stays an operand. What
/// follows the file, or the module, that an interpreter runs is not for the interpreter.
pub fn flags<'a>(args: &'a [Arg], rule: Option<&ProgramRule>) -> Flags<'a> {
    let nothing = ProgramRule::default();
    let rule = rule.unwrap_or(&nothing);
    let mut flags = Flags::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg.text == "--" {
            flags.operands.extend(args);
            break;
        }
        if let Some(long) = arg.text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            flags.add_long(name, rule);
            let takes_value = |known: &String| !name.is_empty() && known.starts_with(name);
            let value = match long.split_once('=') {
                Some((_, value)) => Some(Arg { text: value.to_owned(), fixed: arg.fixed }),
                None if rule.long_value.iter().any(takes_value) => args.next().cloned(),
                None => None,
            };
            flags.values.extend(value.map(|value| (name.to_owned(), value)));
        } else if let Some(cluster) = arg.text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
            let value = match flags.add_cluster(cluster, rule) {
                Value::Follows(letter) => args.next().cloned().map(|value| (letter, value)),
                Value::Attached(letter, value) => Some((letter, Arg { text: value.to_owned(), fixed: arg.fixed })),
                Value::None => None,
            };
            let named = value.map(|(letter, value)| (letter.to_string(), value));
            let runs_it = named.as_ref().is_some_and(|(letter, _)| rule.no_code.contains(letter));
            flags.values.extend(named);
            if rule.reads_code && runs_it {
                break;
            }
        } else {
            flags.operands.push(arg);
            if rule.reads_code {
                flags.operands.extend(args);
                break;
            }
        }
    }
    if !rule.names_its_options() {
        flags.unknown = None;
    }
    flags
}

/// The value of the option that ends a cluster.
enum Value<'a> {
    Follows(char),
    Attached(char, &'a str),
    None,
}

impl<'a> Flags<'a> {
    fn add_long(&mut self, name: &'a str, rule: &ProgramRule) {
        let known = rule.long.iter().chain(&rule.long_value).any(|known| known == name);
        if !known {
            self.unknown.get_or_insert_with(|| format!("--{name}"));
        }
        self.long.insert(name);
    }

    fn add_cluster(&mut self, cluster: &'a str, rule: &ProgramRule) -> Value<'a> {
        self.words.insert(cluster);
        if rule.one_dash_words {
            let known =
                rule.long.iter().any(|known| known == cluster) || cluster.starts_with(|c: char| c.is_ascii_digit());
            if !known {
                self.unknown.get_or_insert_with(|| format!("-{cluster}"));
            }
            return Value::None;
        }
        for (index, letter) in cluster.char_indices() {
            self.short.insert(letter);
            if rule.short_value.contains(letter) {
                return match &cluster[index + letter.len_utf8()..] {
                    "" => Value::Follows(letter),
                    value => Value::Attached(letter, value),
                };
            }
            if !rule.short.contains(letter) && !letter.is_ascii_digit() {
                self.unknown.get_or_insert_with(|| format!("-{letter}"));
            }
        }
        Value::None
    }

    /// `names` is `r|R|recursive`: letters, and words that may be shortened as far as GNU programs allow.
    pub fn has(&self, names: &str) -> bool {
        names.split('|').any(|name| {
            let mut letters = name.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) => self.short.contains(&letter),
                _ => {
                    let shortened = |given: &&str| !given.is_empty() && name.starts_with(*given);
                    self.words.contains(name) || self.long.iter().any(shortened)
                }
            }
        })
    }

    /// What the options of `names` were given.
    pub fn values_of<'s>(&'s self, names: &'s str) -> impl Iterator<Item = &'s Arg> {
        let named = move |given: &str| {
            names.split('|').any(|name| name == given || (given.len() > 1 && name.len() > 1 && name.starts_with(given)))
        };
        self.values.iter().filter(move |(given, _)| named(given)).map(|(_, value)| value)
    }
}
