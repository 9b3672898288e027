//! Files that other programs obey without being asked: hooks, editors' tasks, build servers, what shells and package managers read on
//! entering a folder, and words that agents take for orders. Work that changes one is told of, since whoever opens the folder next
//! runs it.

/// Folders whose content is obeyed.
const FOLDERS: &[&str] = &[
    ".cargo",
    ".circleci",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".githooks",
    ".github",
    ".husky",
    ".idea",
    ".vscode",
    ".windlass",
];

const FILES: &[&str] = &[
    ".bazelrc",
    ".envrc",
    ".gitattributes",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".mcp.json",
    ".npmrc",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".tool-versions",
    ".yarnrc",
    ".yarnrc.yml",
    "agents.md",
    "claude.md",
    "lefthook.yml",
    "rust-toolchain",
    "rust-toolchain.toml",
];

/// `path` is within the folder, with `/` between its parts.
pub fn is_obeyed(path: &str) -> bool {
    let path = path.to_lowercase();
    let mut parts = path.split('/');
    let name = parts.next_back().unwrap_or_default();
    FILES.contains(&name) || parts.any(|part| FOLDERS.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_tasks_and_orders_are_obeyed_and_source_is_not() {
        for path in [
            ".envrc",
            "web/.envrc",
            ".githooks/pre-commit",
            ".github/workflows/ci.yml",
            ".vscode/tasks.json",
            "sub/.cargo/config.toml",
            "AGENTS.md",
            ".GitHub/workflows/x.yml",
        ] {
            assert!(is_obeyed(path), "{path}");
        }
        for path in ["src/main.rs", "envrc", "docs/github/x.md", "vscode/tasks.json", "my.envrc", ".gitignore"] {
            assert!(!is_obeyed(path), "{path}");
        }
    }
}
