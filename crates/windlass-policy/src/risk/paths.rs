//! Whether a path stays where the task may write, by its letters alone: `..` is taken literally and links are not followed,
//! which the sandbox does.

use super::shell::Arg;
use super::table::Table;

/// Where a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The workspace as the command sees it.
    pub workspace: String,
    /// An absolute path.
    pub cwd: String,
}

impl Place {
    pub fn workspace() -> Self {
        Self { workspace: "/workspace".to_owned(), cwd: "/workspace".to_owned() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    Inside,
    Outside,
    /// It holds what is known only when the command runs.
    Unknown,
    /// Inside, where only git may write.
    Protected,
}

/// `cwd` is none once the command has gone somewhere unknown.
pub fn placement(table: &Table, place: &Place, cwd: Option<&str>, path: &Arg) -> Placement {
    if path.text.starts_with('~') {
        return Placement::Outside;
    }
    let absolute = path.text.starts_with('/');
    let Some(base) = cwd.or(absolute.then_some("/")) else {
        return Placement::Unknown;
    };
    let Some(components) = resolve(base, &path.text) else {
        return Placement::Outside;
    };
    if !path.fixed {
        // What is known may be enough to know that it leaves; never that it stays.
        return if absolute && !is_inside(table, place, &components) { Placement::Outside } else { Placement::Unknown };
    }
    if !is_inside(table, place, &components) {
        return Placement::Outside;
    }
    let protected = components.iter().any(|component| table.shell.protected.iter().any(|name| name == component));
    if protected { Placement::Protected } else { Placement::Inside }
}

fn is_inside(table: &Table, place: &Place, components: &[&str]) -> bool {
    let roots = table.shell.inside.iter().map(String::as_str).chain([place.workspace.as_str()]);
    roots.into_iter().any(|root| {
        let root: Vec<&str> = root.split('/').filter(|component| !component.is_empty()).collect();
        !root.is_empty() && components.starts_with(&root)
    })
}

/// The components of an absolute path; none when it climbs above the root, which nobody does by accident.
fn resolve<'a>(base: &'a str, path: &'a str) -> Option<Vec<&'a str>> {
    let base = if path.starts_with('/') { "" } else { base };
    let mut components = Vec::new();
    for component in base.split('/').chain(path.split('/')) {
        match component {
            "" | "." => {}
            ".." => {
                components.pop()?;
            }
            name => components.push(name),
        }
    }
    Some(components)
}

/// The folder after `cd path`.
pub fn entered(cwd: Option<&str>, path: &Arg) -> Option<String> {
    if !path.fixed || path.text.starts_with('~') || path.text == "-" || path.text.is_empty() {
        return None;
    }
    let base = cwd.or(path.text.starts_with('/').then_some("/"))?;
    resolve(base, &path.text).map(|components| format!("/{}", components.join("/")))
}

/// Whether a path, or the beginning of one, is among those that hold secrets, from wherever it is named. `--file=PATH` counts
/// as its path.
pub fn is_sensitive(table: &Table, cwd: Option<&str>, arg: &Arg) -> bool {
    let value = arg.text.rsplit_once('=').map_or(arg.text.as_str(), |(_, value)| value);
    [arg.text.as_str(), value].into_iter().any(|text| {
        let named = |component: &str| table.shell.sensitive_names.iter().any(|name| name == component);
        let base = cwd.or(text.starts_with('/').then_some("/"));
        let path = base.and_then(|base| resolve(base, text)).map(|components| format!("/{}", components.join("/")));
        text.split('/').any(named) || path.is_some_and(|path| is_secret(table, &path, arg))
    })
}

fn is_secret(table: &Table, path: &str, arg: &Arg) -> bool {
    let secrets = &table.shell.sensitive;
    is_of_a_process(path, arg)
        || secrets.iter().any(|secret| starts_with_path(path, secret) || (!arg.fixed && might_be(path, secret)))
}

/// Files of `/proc` that show another process's environment, memory or whole file system.
fn is_of_a_process(path: &str, arg: &Arg) -> bool {
    const SHOWING: [&str; 5] = ["environ", "mem", "root", "cwd", "fd"];
    let shows = |component: &str| SHOWING.contains(&component);
    let might_show = |component: &str| SHOWING.iter().any(|file| might_be(component, file));
    path.strip_prefix("/proc/").is_some_and(|rest| {
        // The first of a pattern is any process.
        rest.split('/').any(shows) || (!arg.fixed && rest.split('/').skip(1).any(might_show))
    })
}

/// Whether a pattern may stand for `name`, by what it has before its first special letter and behind its last.
fn might_be(pattern: &str, name: &str) -> bool {
    let depth = |path: &str| path.matches('/').count();
    let (Some(first), Some(last)) = (pattern.find(['*', '?', '[', '{']), pattern.rfind(['*', '?', ']', '}'])) else {
        return false;
    };
    let (before, behind) = (&pattern[..first], &pattern[last + 1..]);
    depth(pattern) == depth(name) && name.starts_with(before) && name.ends_with(behind)
}

/// Whole components: `/etc/shadow` is not the beginning of `/etc/shadowy`.
fn starts_with_path(text: &str, start: &str) -> bool {
    text.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
