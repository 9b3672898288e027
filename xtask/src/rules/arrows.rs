//! Which crate may use which. Every `crates/*/Cargo.toml` is held against the map, renamed and target-specific dependencies
//! included; a crate that is not on the map is refused, because a crate without arrows is where things without a home go.
//! `[dev-dependencies]` are free. Cycles are left to cargo.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::map::{self, MayUse};
use crate::{Finding, Tree};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let root = parse(tree.text("Cargo.toml").unwrap_or_default());
    let mut findings: Vec<Finding> = tree
        .files()
        .filter_map(|(path, text)| Some((path, crate_of(path)?, text)))
        .flat_map(|(path, krate, text)| check_manifest(path, krate, text, &root))
        .collect();
    if let Some(page) = tree.text(PAGE) {
        findings.extend(check_page(page));
    }
    findings
}

fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml").filter(|krate| !krate.contains('/'))
}

fn check_manifest(path: &str, krate: &str, text: &str, root: &Table) -> Vec<Finding> {
    let Some(may_use) = map::may_use(krate) else {
        let message = format!("{krate} is not on the map; give it a row and its arrows in xtask/src/map.rs");
        return vec![Finding::new(path, 1, message)];
    };
    dependencies(&parse(text), root)
        .into_iter()
        .filter_map(|dependency| {
            let objection = objection(krate, may_use, &dependency.package)?;
            Some(Finding::new(path, line_of(text, &dependency.key), objection))
        })
        .collect()
}

fn objection(krate: &str, may_use: &MayUse, library: &str) -> Option<String> {
    if library.starts_with("windlass") {
        return match may_use {
            MayUse::AnyOfThese if map::may_use(library).is_none() => {
                Some(format!("{krate} may use the crates of xtask/src/map.rs, not {library}"))
            }
            MayUse::Only([]) => Some(format!("{krate} may use no crate of ours, yet it names {library}")),
            MayUse::Only(allowed) if !allowed.contains(&library) => {
                Some(format!("{krate} may use {}, not {library}", allowed.join(", ")))
            }
            MayUse::AnyOfThese | MayUse::Only(_) => None,
        };
    }
    if map::PURE.contains(&krate) && map::IMPURE_LIBRARIES.contains(&library) {
        return Some(format!("{krate} is pure and {library} is not; pass in what it would have found out"));
    }
    let (_, homes) = map::LIBRARY_HOMES.iter().find(|(name, _)| *name == library)?;
    (!homes.contains(&krate)).then(|| format!("{library} lives in {}; go through it", homes.join(", ")))
}

struct Dependency {
    key: String,
    /// The name on the registry, which `package = "…"` may hide.
    package: String,
}

fn dependencies(manifest: &Table, root: &Table) -> Vec<Dependency> {
    let by_target =
        table(manifest, "target").into_iter().flat_map(|targets| targets.values().filter_map(Value::as_table));
    std::iter::once(manifest)
        .chain(by_target)
        .flat_map(|section| ["dependencies", "build-dependencies"].map(|kind| table(section, kind)))
        .flatten()
        .flat_map(|section| section.iter())
        .map(|(key, value)| Dependency { key: key.clone(), package: package(key, value, root) })
        .collect()
}

fn package(key: &str, value: &Value, root: &Table) -> String {
    let in_workspace = || table(root, "workspace").and_then(|workspace| table(workspace, "dependencies")?.get(key));
    let named = |value: &Value| Some(value.get("package")?.as_str()?.to_owned());
    named(value).or_else(|| named(in_workspace()?)).unwrap_or_else(|| key.to_owned())
}

fn table<'a>(parent: &'a Table, key: &str) -> Option<&'a Table> {
    parent.get(key)?.as_table()
}

/// A manifest that does not parse is cargo's to report.
fn parse(text: &str) -> Table {
    text.parse().unwrap_or_default()
}

fn line_of(text: &str, key: &str) -> usize {
    let names_key =
        |line: &str| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
    text.lines().position(names_key).map_or(1, |index| index + 1)
}

const PAGE: &str = "ARCHITECTURE.md";

/// Rows of the page's crate table look like "| `windlass-plan` | purpose | domain |". Pages without such rows pass.
fn check_page(page: &str) -> Vec<Finding> {
    page.lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let row: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            let [krate, _purpose, uses] = row[..] else {
                return None;
            };
            let krate = krate.strip_prefix('`')?.strip_suffix('`')?;
            let is_crate = krate == "windlass" || krate.starts_with("windlass-");
            let agrees = !is_crate || map::may_use(krate).is_some_and(|may_use| says(uses, may_use));
            (!agrees).then(|| {
                let message = format!("the row of {krate} and xtask/src/map.rs differ; say it once, in both");
                Finding::new(PAGE, index + 1, message)
            })
        })
        .collect()
}

fn says(uses: &str, may_use: &MayUse) -> bool {
    match may_use {
        MayUse::AnyOfThese => uses == "all",
        MayUse::Only(allowed) => {
            let listed: BTreeSet<String> = uses
                .split(',')
                .map(|name| name.trim().trim_matches('`'))
                .filter(|name| !matches!(*name, "" | "–" | "-"))
                .map(|name| match name.strip_prefix("windlass-") {
                    Some(_) => name.to_owned(),
                    None => format!("windlass-{name}"),
                })
                .collect();
            listed.iter().map(String::as_str).eq(allowed.iter().copied().collect::<BTreeSet<_>>())
        }
    }
}
