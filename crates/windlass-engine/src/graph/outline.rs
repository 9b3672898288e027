//! A plan in words, for whoever writes the next one: its items with what they wait for, what they were told and how they are judged.

use windlass_domain::Check;
use windlass_domain::plan::{AtomId, Item, Plan};

pub fn outline(Plan(root): &Plan) -> String {
    let mut lines = Vec::new();
    add(root, 0, &mut lines);
    lines.join("\n")
}

fn add(item: &Item, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    lines.push(format!("{indent}- {}: {}", item.id, item.title));
    let words = &item.briefing;
    let said = [
        ("after", item.depends_on.iter().map(AtomId::as_str).collect::<Vec<_>>().join(", ")),
        ("a choice of", item.any_of.iter().map(AtomId::as_str).collect()),
        ("touches", item.touches.paths.join(", ")),
        ("services", item.touches.services.join(", ")),
        ("context", words.context.clone()),
        ("what to do", words.what_to_do.clone()),
        ("constraints", words.constraints.clone()),
        ("if stuck", words.if_you_get_stuck.clone()),
    ];
    let checks = item.verify.0.iter().map(|check| ("check", in_words(check)));
    for (name, words) in said.into_iter().chain(checks).filter(|(_, words)| !words.trim().is_empty()) {
        let words = words.trim().replace('\n', &format!("\n{indent}    "));
        lines.push(format!("{indent}  {name}: {words}"));
    }
    item.tasks.iter().for_each(|part| add(part, depth + 1, lines));
}

/// What is run or looked at and what is expected of it, whole; and what it is called, where that is something else. Whoever agrees
/// to it goes by that, and not by a name.
pub fn in_words(check: &Check) -> String {
    let deed = check.probe.in_words();
    let line = deed.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_called_so = line.starts_with(check.name.trim_end_matches('…'));
    let named = if is_called_so { deed } else { format!("{}: {deed}", check.name) };
    let protects = (!check.protect.is_empty()).then(|| format!(" (protects {})", check.protect.join(", ")));
    let network = check.network.then_some(" (with the network)");
    format!("{named}{}{}", protects.unwrap_or_default(), network.unwrap_or_default())
}
