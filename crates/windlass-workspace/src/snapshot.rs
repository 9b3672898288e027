//! What a snapshot's id names: a tree, and the rules it was taken under. Where there are no rules it is the tree's own
//! object, so that a plain folder has the same id everywhere.

use windlass_domain::{Digest, TreeId};

use crate::error::Error;
use crate::kept_rules::KeptRules;
use crate::objects::{Batch, Objects};

const HEADER: &str = "windlass snapshot 1\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub tree: Digest,
    rules: Option<Digest>,
}

impl Snapshot {
    pub fn store(batch: &mut Batch<'_>, tree: Digest, rules: &KeptRules) -> Result<TreeId, Error> {
        match rules.store(batch)? {
            None => Ok(TreeId(tree)),
            Some(rules) => batch.put(encode(tree, rules).as_bytes()).map(TreeId),
        }
    }

    pub fn load(objects: &Objects, id: TreeId) -> Result<Self, Error> {
        let text = objects.read(id.0)?;
        // What is neither is found out when it is read as a tree.
        Ok(decode(&text).unwrap_or(Self { tree: id.0, rules: None }))
    }

    pub fn rules(&self, objects: &Objects) -> Result<KeptRules, Error> {
        self.rules.map_or_else(|| Ok(KeptRules::default()), |rules| KeptRules::load(objects, rules))
    }
}

fn encode(tree: Digest, rules: Digest) -> String {
    format!("{HEADER}tree {tree}\nrules {rules}\n")
}

fn decode(text: &[u8]) -> Option<Snapshot> {
    let lines = std::str::from_utf8(text).ok()?.strip_prefix(HEADER)?.strip_suffix('\n')?;
    let (tree, rules) = lines.split_once('\n')?;
    let tree = tree.strip_prefix("tree ")?.parse().ok()?;
    let rules = rules.strip_prefix("rules ")?.parse().ok()?;
    Some(Snapshot { tree, rules: Some(rules) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_survives_its_text_and_nothing_else_is_taken_for_one() {
        let (tree, rules) = (Digest::of(b"tree"), Digest::of(b"rules"));
        let text = encode(tree, rules);
        assert_eq!(decode(text.as_bytes()), Some(Snapshot { tree, rules: Some(rules) }));
        assert_eq!(decode(&text.as_bytes()[..text.len() - 1]), None);
        assert_eq!(decode(b"windlass tree 1\n"), None);
        assert_eq!(decode(format!("{text}more\n").as_bytes()), None);
    }
}
