//! `windlass doctor --config`: every setting as it holds here, and who said so. Secrets are set or not set.

use serde_json::json;

use crate::arguments::Output;
use crate::config::{Config, Effective, effective};
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Style, print_json};

/// A mistake is told beside what holds without it.
pub fn show_config(config: &Config, problems: &[WrongUse], output: Output) -> Exit {
    let settings = effective(config);
    let exit = if problems.is_empty() { Exit::Completed } else { Exit::Failed };
    if output.json {
        for Effective { name, value, from, about } in settings {
            print_json(&json!({"type": "setting", "name": name, "value": value, "from": from, "about": about}));
        }
        let problems: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        print_json(&json!({"type": "result", "ready": problems.is_empty(), "problems": problems}));
        return exit;
    }
    let mut screen = Screen::new();
    let width = settings.iter().map(|setting| setting.name.chars().count()).max().unwrap_or_default();
    for setting in &settings {
        let style = if setting.from == "default" { Style::Dim } else { Style::Plain };
        let name = format!("{:<width$}  ", setting.name);
        screen.print_whole(&Line::marked(style, &name).add(style, &setting.value).dim(format!("  {}", setting.from)));
    }
    for problem in problems {
        screen.print_whole(&Line::marked(Style::Bad, "✘ ").plain(&problem.message));
    }
    exit
}
