//! A call that a program wants to make, as our rules look at calls: arguments under the names that gates and the table of risks know,
//! and what it would do. What the program gave stays beside it, so that a person sees all of it.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use windlass_domain::{CallId, Effect, Prepared, Program, Reach, ToolCall};

use crate::{CommandLine, Proposal, Proposed};

pub struct Call {
    pub call: ToolCall,
    pub prepared: Prepared,
}

pub fn call(call_id: &CallId, proposed: &Proposed, workspace: &Path) -> Call {
    let mut arguments = match &proposed.arguments {
        Value::Object(given) => given.clone(),
        given => [("arguments".to_owned(), given.clone())].into_iter().collect(),
    };
    let relative = |path: &Path| relative(path, workspace);
    let mut tool = proposed.tool.clone();
    let prepared = match &proposed.proposal {
        // Nobody can judge what nobody is told.
        Proposal::Command { line: CommandLine::Shell(line), .. } if line.trim().is_empty() => {
            tool = foreign_name(&tool);
            Prepared::new(Effect::Once, Reach::Program)
        }
        Proposal::Command { line, cwd } => {
            let (command, argv) = command(line);
            arguments.insert("command".to_owned(), command);
            // What the agent says of it is no part of it: asked for again after a yes, it may be said in other words.
            arguments.remove("description");
            let cwd = cwd.as_deref().map(relative).unwrap_or_default();
            if !cwd.is_empty() {
                arguments.insert("cwd".to_owned(), json!(cwd));
            }
            let program = Some(Program { argv, cwd });
            Prepared { program, ..Prepared::new(Effect::Once, Reach::Program) }
        }
        Proposal::Change { paths } => {
            let paths: Vec<String> = paths.iter().map(|path| relative(path)).collect();
            // A file outside is no file of the work, by whatever tool it is written.
            if paths.iter().any(|path| path.starts_with('/')) {
                tool = format!("{tool}_outside_the_workspace");
            }
            name_paths(&mut arguments, &paths);
            Prepared::new(Effect::Once, Reach::Files(paths))
        }
        Proposal::Read { paths } => {
            let paths: Vec<String> = paths.iter().map(|path| relative(path)).collect();
            name_paths(&mut arguments, &paths);
            Prepared::new(Effect::Read, Reach::Files(paths))
        }
        Proposal::Fetch { url } => {
            arguments.insert("url".to_owned(), json!(url));
            Prepared::new(Effect::Once, Reach::Outside(host(url)))
        }
        Proposal::Other => {
            tool = foreign_name(&tool);
            Prepared::new(Effect::Once, Reach::Program)
        }
    };
    let written = Value::Object(arguments).to_string();
    Call { call: ToolCall::new(call_id.0.clone(), tool, &written), prepared }
}

/// A tool of the program's own may be called as one of ours is, and is not that.
fn foreign_name(tool: &str) -> String {
    format!("agent:{tool}")
}

/// Below the workspace; absolute where it is not. By its words alone: what a link leads to is the sandbox's business.
fn relative(path: &Path, workspace: &Path) -> String {
    let mut plain = if path.is_absolute() { PathBuf::from("/") } else { workspace.to_path_buf() };
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    plain.strip_prefix(workspace).unwrap_or(&plain).to_string_lossy().into_owned()
}

/// What rules read, and what will be started.
fn command(line: &CommandLine) -> (Value, Vec<String>) {
    match line {
        CommandLine::Shell(line) => (json!(line), vec!["sh".to_owned(), "-c".to_owned(), line.clone()]),
        CommandLine::Words(words) => (json!(words), words.clone()),
    }
}

fn name_paths(arguments: &mut serde_json::Map<String, Value>, paths: &[String]) {
    match paths {
        [path] => arguments.insert("path".to_owned(), json!(path)),
        paths => arguments.insert("paths".to_owned(), json!(paths)),
    };
}

fn host(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    (!host.is_empty() && !host.contains('@')).then(|| host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tool: &str, given: Value, proposal: Proposal, arguments: Value, reach: &Reach) {
        check_as(tool, tool, given, proposal, arguments, reach);
    }

    fn check_as(asked: &str, tool: &str, given: Value, proposal: Proposal, arguments: Value, reach: &Reach) {
        let proposed = Proposed { tool: asked.to_owned(), arguments: given, proposal };
        let Call { call, prepared } = call(&CallId("c".to_owned()), &proposed, Path::new("/workspace"));
        let got: Value = serde_json::from_str(call.arguments.get()).expect("JSON");
        assert_eq!((call.tool.as_str(), got, &prepared.reach), (tool, arguments, reach));
    }

    #[test]
    fn a_call_is_judged_by_what_it_does_under_the_names_that_rules_know() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        check(
            "bash",
            json!({"command": "rm x", "description": "tidy"}),
            Proposal::Command { line: CommandLine::Shell("rm x".to_owned()), cwd: Some("/workspace/sub".into()) },
            json!({"command": "rm x", "cwd": "sub"}),
            &Reach::Program,
        );
        // Regression: a line was taken for the name of a program, so that nothing in it was judged.
        check(
            "bash",
            json!({"command": "git push; ls"}),
            Proposal::Command { line: CommandLine::Shell("git push; ls".to_owned()), cwd: None },
            json!({"command": "git push; ls"}),
            &Reach::Program,
        );
        check(
            "bash",
            json!(["rm", "x"]),
            Proposal::Command { line: CommandLine::Words(words(&["rm", "x"])), cwd: Some("/workspace".into()) },
            json!({"arguments": ["rm", "x"], "command": ["rm", "x"]}),
            &Reach::Program,
        );
        check(
            "write",
            json!({"file_path": "/workspace/a/b.txt", "content": "x"}),
            Proposal::Change { paths: vec!["/workspace/a/b.txt".into()] },
            json!({"file_path": "/workspace/a/b.txt", "content": "x", "path": "a/b.txt"}),
            &Reach::Files(vec!["a/b.txt".to_owned()]),
        );
        check(
            "web_fetch",
            json!({}),
            Proposal::Fetch { url: "https://Example.org/a?b".to_owned() },
            json!({"url": "https://Example.org/a?b"}),
            &Reach::Outside(Some("example.org".to_owned())),
        );
        let odd = Proposal::Fetch { url: "https://example.org@evil.org/".to_owned() };
        check("web_fetch", json!({}), odd, json!({"url": "https://example.org@evil.org/"}), &Reach::Outside(None));
        let prompt = || json!({"prompt": "p"});
        check_as("Task", "agent:Task", prompt(), Proposal::Other, prompt(), &Reach::Program);
        // The review found these: a name of ours, an empty line, and files outside, however they are spelled.
        check_as("launch_agent", "agent:launch_agent", json!({}), Proposal::Other, json!({}), &Reach::Program);
        let empty = Proposal::Command { line: CommandLine::Shell(" ".to_owned()), cwd: None };
        check_as("bash", "agent:bash", json!({}), empty, json!({}), &Reach::Program);
        for path in ["/home/agent/.bashrc", "/workspace/../home/agent/.bashrc", "../home/agent/./.bashrc"] {
            check_as(
                "write",
                "write_outside_the_workspace",
                json!({}),
                Proposal::Change { paths: vec![path.into()] },
                json!({"path": "/home/agent/.bashrc"}),
                &Reach::Files(vec!["/home/agent/.bashrc".to_owned()]),
            );
        }
    }
}
