//! Which memories bear on a goal, for whoever is told of them without having asked. A search ranks whatever shares a word with the
//! question; here a memory must be about the same thing, because one that is not costs attention in every task.

use crate::memory::Memory;

/// So many are told.
pub const MOST_RECALLED: usize = 3;
/// Of a goal, so many words are looked at.
const MOST_WORDS: usize = 64;
/// A word in common says little.
const LEAST_SHARED: usize = 2;
/// Of the words of the shorter one, one in so many is in both.
const SHARE: usize = 3;
const SHORTEST_WORD: usize = 3;
/// Words that begin alike are the same from this length on: `test` and `tests`.
const SHORTEST_BEGINNING: usize = 4;

/// Words that any goal may hold, whatever it is about.
const COMMON: [&str; 48] = [
    "about", "add", "all", "also", "and", "any", "are", "but", "can", "change", "check", "create", "each", "every",
    "file", "files", "find", "fix", "for", "from", "has", "have", "how", "into", "its", "look", "make", "new", "not",
    "our", "out", "please", "should", "sure", "that", "the", "them", "then", "there", "this", "use", "using", "what",
    "when", "which", "with", "work", "write",
];

/// Whether the memory is about what the goal is about: the same words on their first lines, or enough words in common.
pub fn is_relevant(goal: &str, memory: &Memory) -> bool {
    let (title, _) = memory.parts();
    let first = goal.trim().lines().next().unwrap_or_default();
    if !first.is_empty() && first.trim().to_lowercase() == title.trim().to_lowercase() {
        return true;
    }
    let (of_goal, of_title) = (telling_words(goal), telling_words(title));
    let shared = of_title.iter().filter(|word| of_goal.iter().any(|other| are_alike(word, other))).count();
    shared >= LEAST_SHARED && shared * SHARE >= of_goal.len().min(of_title.len())
}

/// Each once, in order, without those that say nothing.
pub fn telling_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        let word = word.to_lowercase();
        let says_something = word.chars().count() >= SHORTEST_WORD && !COMMON.contains(&word.as_str());
        if says_something && !words.contains(&word) {
            words.push(word);
        }
        if words.len() == MOST_WORDS {
            break;
        }
    }
    words
}

fn are_alike(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short == long || (short.chars().count() >= SHORTEST_BEGINNING && long.starts_with(short))
}
