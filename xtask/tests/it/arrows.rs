//! Crate arrows: what each manifest may name, however it names it.

use crate::notation::check;

#[test]
fn a_crate_may_use_what_the_map_says() {
    let manifest = "[dependencies]\nwindlass-domain.workspace = true\nserde = \"1\"\n";
    check("arrows", &[("crates/windlass-plan/Cargo.toml", manifest)], &[]);
}

#[test]
fn any_other_arrow_is_refused_at_its_line() {
    let manifest = "[dependencies]\nwindlass-domain.workspace = true\nwindlass-store = { workspace = true }\n";
    check(
        "arrows",
        &[("crates/windlass-plan/Cargo.toml", manifest)],
        &["crates/windlass-plan/Cargo.toml:3: windlass-plan may use windlass-domain, not windlass-store"],
    );
}

#[test]
fn the_engine_reaches_neither_models_nor_tools_nor_adapters() {
    for library in ["windlass-llm", "windlass-tools", "windlass-adapters", "windlass-agent", "windlass-runtime"] {
        let manifest = format!("[dependencies]\n{library}.workspace = true\n");
        let path = "crates/windlass-engine/Cargo.toml";
        check("arrows", &[(path, &manifest)], &[&format!("{path}:2: windlass-engine may use")]);
    }
}

#[test]
fn the_domain_and_the_sandbox_use_no_crate_of_ours() {
    for krate in ["windlass-domain", "windlass-sandbox"] {
        let path = format!("crates/{krate}/Cargo.toml");
        let manifest = "[dependencies]\nwindlass-plan.workspace = true\n";
        check("arrows", &[(&path, manifest)], &[&format!("{path}:2: {krate} may use no crate of ours")]);
    }
}

#[test]
fn dev_dependencies_are_free() {
    let manifest = "[dev-dependencies]\nwindlass-store.workspace = true\nanyhow = \"1\"\ntokio = \"1\"\n";
    check("arrows", &[("crates/windlass-plan/Cargo.toml", manifest)], &[]);
}

#[test]
fn an_arrow_cannot_hide() {
    let path = "crates/windlass-plan/Cargo.toml";
    let refused: &[&str] = &["crates/windlass-plan/Cargo.toml:2: windlass-plan may use"];
    for manifest in [
        "[dependencies]\nshelf = { package = \"windlass-store\", path = \"../windlass-store\" }\n",
        "[build-dependencies]\nwindlass-store.workspace = true\n",
        "[target.'cfg(unix)'.dependencies]\nwindlass-store.workspace = true\n",
        "[dependencies.windlass-store]\nworkspace = true\n",
    ] {
        let first_line_when_sectioned: &[&str] = &["crates/windlass-plan/Cargo.toml:1: windlass-plan may use"];
        let expected = if manifest.contains("[dependencies.") { first_line_when_sectioned } else { refused };
        check("arrows", &[(path, manifest)], expected);
    }
    let renamed_in_root = "[workspace.dependencies]\nshelf = { package = \"windlass-store\", path = \"x\" }\n";
    let manifest = "[dependencies]\nshelf.workspace = true\n";
    check("arrows", &[("Cargo.toml", renamed_in_root), (path, manifest)], refused);
}

#[test]
fn a_crate_that_is_not_on_the_map_is_refused() {
    let path = "crates/windlass-attic/Cargo.toml";
    check(
        "arrows",
        &[(path, "[dependencies]\n")],
        &["crates/windlass-attic/Cargo.toml:1: windlass-attic is not on the map"],
    );
}

#[test]
fn the_binary_may_use_every_crate_but_not_the_test_harness() {
    let path = "crates/windlass/Cargo.toml";
    check("arrows", &[(path, "[dependencies]\nwindlass-engine.workspace = true\nanyhow = \"1\"\n")], &[]);
    let manifest = "[dependencies]\nwindlass-simulator.workspace = true\n";
    check("arrows", &[(path, manifest)], &["crates/windlass/Cargo.toml:2: windlass may use the crates of"]);
}

#[test]
fn pure_crates_take_no_library_that_acts() {
    for krate in ["windlass-domain", "windlass-plan", "windlass-policy"] {
        let path = format!("crates/{krate}/Cargo.toml");
        let expected = format!("{path}:2: {krate} is pure and tokio is not");
        check("arrows", &[(&path, "[dependencies]\ntokio = \"1\"\n")], &[&expected]);
    }
    check("arrows", &[("crates/windlass-llm/Cargo.toml", "[dependencies]\ntokio = \"1\"\n")], &[]);
}

#[test]
fn a_heavy_library_stays_in_its_home() {
    check("arrows", &[("crates/windlass-store/Cargo.toml", "[dependencies]\nrusqlite = \"0\"\n")], &[]);
    check(
        "arrows",
        &[("crates/windlass-tools/Cargo.toml", "[dependencies]\nrusqlite = \"0\"\n")],
        &["crates/windlass-tools/Cargo.toml:2: rusqlite lives in windlass-store; go through it"],
    );
}

#[test]
fn the_page_and_the_map_say_the_same() {
    let agreeing = "| Crate | Purpose | May use |\n|---|---|---|\n\
        | `windlass-domain` | words | – |\n| `windlass-agent` | loop | domain, llm, tools |\n| `windlass` | binary | all |\n";
    check("arrows", &[("ARCHITECTURE.md", agreeing)], &[]);
    for row in [
        "| `windlass-domain` | words | store |",
        "| `windlass-agent` | loop | domain, llm |",
        "| `windlass-attic` | things | – |",
        "| `windlass` | binary | domain |",
    ] {
        check("arrows", &[("ARCHITECTURE.md", row)], &["ARCHITECTURE.md:1: the row of windlass"]);
    }
}
