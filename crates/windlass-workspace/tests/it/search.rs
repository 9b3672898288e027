//! What a search visits, and what it passes over.

use std::ops::ControlFlow;

use windlass_workspace::{Error, Search};

use crate::support::{Yard, at};

fn found(yard: &Yard, path: &str) -> Result<Vec<String>, Error> {
    let mut paths = Vec::new();
    Search::default().run(&yard.root(), &at(path), &mut |visit| {
        paths.push(visit.shown());
        ControlFlow::Continue(())
    })?;
    Ok(paths)
}

fn yard() -> Yard {
    let yard = Yard::new();
    for path in ["src/a", "src/b/c", ".memo/m", ".scratch/s", ".git/config", "target/t", "z", ".env"] {
        yard.put(path, path);
    }
    yard.put(".gitignore", "target\n");
    yard.link("src", "link");
    yard.link("../workspace-evil", "out");
    yard
}

#[test]
fn ignored_files_and_the_runtimes_scratch_are_passed_over() {
    let expected = [".env", ".gitignore", ".memo/m", "link", "out", "src/a", "src/b/c", "z"];
    assert_eq!(found(&yard(), "").unwrap(), expected);
}

#[test]
fn what_is_named_outright_is_searched() {
    let yard = yard();
    let check = |path: &str, expected: &[&str]| assert_eq!(found(&yard, path).unwrap(), expected, "{path}");
    check("src", &["src/a", "src/b/c"]);
    check("src/b/c", &["src/b/c"]);
    check("target", &["target/t"]);
    check(".scratch", &[".scratch/s"]);
    check("link", &["link/a", "link/b/c"]);
    check("link/b", &["link/b/c"]);
    check("src/../src/b", &["src/../src/b/c"]);
}

#[test]
fn what_is_not_there_or_leads_out_is_said_so() {
    let yard = yard();
    assert!(matches!(found(&yard, "nowhere"), Err(Error::NotFound { .. })));
    assert!(matches!(found(&yard, "out"), Err(Error::Outside { .. })));
    assert!(matches!(found(&yard, ".."), Err(Error::Outside { .. })));
}

#[test]
fn a_search_stops_when_told_to() {
    let mut count = 0;
    Search::default()
        .run(&yard().root(), &at(""), &mut |_| {
            count += 1;
            ControlFlow::Break(())
        })
        .unwrap();
    assert_eq!(count, 1);
}
