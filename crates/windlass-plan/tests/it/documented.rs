//! The user's page on checks tells the truth: every example on it is read, and every one it calls refused is refused.

use windlass_plan::parse_base_case;

const PAGE: &str = include_str!("../../../../docs/checks.md");

/// The fenced blocks whose opening line is exactly this.
fn blocks(opening: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        if line == opening {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push(body.join("\n"));
        }
    }
    found
}

#[test]
fn every_example_is_read() {
    let examples = blocks("```yaml");
    assert!(examples.len() >= 8, "only {} examples were found", examples.len());
    for example in examples {
        if let Err(problems) = parse_base_case(&example) {
            panic!("{example}\n{problems}");
        }
    }
}

#[test]
fn every_entry_of_a_refused_example_is_refused() {
    let examples = blocks("```yaml refused");
    assert!(examples.len() >= 4, "only {} examples were found", examples.len());
    for example in examples {
        let entries = example.lines().filter(|line| line.starts_with("- ")).count();
        let problems = parse_base_case(&example).expect_err(&example);
        let mut lines: Vec<usize> = problems.iter().map(|problem| problem.at.line).collect();
        lines.dedup();
        assert_eq!(lines, (1..=entries).collect::<Vec<_>>(), "{example}\n{problems}");
    }
}

#[test]
fn the_names_it_gives_for_the_checklist_are_right() {
    let checklist = blocks("```yaml").into_iter().find(|block| block.starts_with("checklist:")).expect("a checklist");
    let names: Vec<String> = parse_base_case(&checklist).unwrap().0.into_iter().map(|check| check.name).collect();
    let sentence = format!("`{}`, `{}` and `{}`", names[0], names[1], names[2]);
    assert!(PAGE.contains(&sentence), "{sentence}");
}

#[test]
fn the_command_line_examples_are_read() {
    let mut found = 0;
    for line in PAGE.lines().filter(|line| line.starts_with("windlass run")) {
        let argument = line.split("--base-case '").nth(1).and_then(|rest| rest.strip_suffix('\'')).expect(line);
        parse_base_case(argument).unwrap_or_else(|problems| panic!("{argument}\n{problems}"));
        found += 1;
    }
    assert_eq!(found, 2);
}

#[test]
fn every_expectation_and_option_is_on_the_page() {
    let problems = parse_base_case("{run: x, contains: y, nonsense_word: 1}").unwrap_err().to_string();
    let known = problems.split("known here: ").nth(1).expect(&problems);
    for field in known.split(", ") {
        assert!(PAGE.contains(&format!("`{field}")), "{field} is not explained");
    }
}
