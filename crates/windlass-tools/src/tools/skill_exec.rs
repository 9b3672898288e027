//! `skill_exec` (seed 001 §5.3): a script of one of the task's skills, run in the sandbox where it stands, `/skills/NAME/…`. The
//! skill and the file are looked up in what the task was begun with, so that no name leads anywhere else. Its arguments become
//! words of the command line, all of them, so that a card shows and a yes binds what the script is given.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_domain::{BoxFuture, Effect, Permit, Prepared, Program, ToolSpec};

use crate::context::{Confinement, Context};
use crate::program::{LONGEST_TIMEOUT, Started, place, reach, timeout};
use crate::skills::{INSIDE, Offered, SkillSet};
use crate::tool::{Output, Running, Tool, arguments, spec, typed};
use crate::tools::read_skill::find_skill;

/// The argument whose words stand without a name.
const POSITIONAL: &str = "_";
const SCRIPTS: &str = "scripts";
/// All words of the command line together.
const LONGEST: usize = 60_000;

#[derive(Debug, Clone, Copy)]
pub struct SkillExec(pub Confinement);

#[derive(Deserialize)]
struct Arguments {
    skill_name: String,
    script_name: String,
    #[serde(default)]
    args: Map<String, Value>,
    timeout_seconds: Option<u64>,
}

impl Tool for SkillExec {
    fn spec(&self) -> ToolSpec {
        spec(
            "skill_exec",
            &format!(
                "Run a script of a skill {}. It starts in the workspace and has no standard input; the result has the exit code and \
                 the output, standard error included.",
                place(self.0)
            ),
            json!({
                "type": "object",
                "properties": {
                    "skill_name": { "type": "string", "minLength": 1, "description": "As list_skills shows it" },
                    "script_name": {
                        "type": "string",
                        "minLength": 1,
                        "description": "A file of the skill, as read_skill names it; `scripts/` may be left out",
                    },
                    "args": {
                        "type": "object",
                        "description": "{\"in\": \"a.pdf\", \"pages\": 3} becomes `--in a.pdf --pages 3`. true is the bare option, \
                                        false and null leave it out, a list repeats it; words under \"_\" stand alone, at the end",
                    },
                    "timeout_seconds": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": LONGEST_TIMEOUT,
                        "description": "The script is killed after this; 120 by default",
                    },
                },
                "required": ["skill_name", "script_name"],
                "additionalProperties": false,
            }),
        )
    }

    /// Where nothing is confined, `/skills` is not there.
    fn is_here(&self, context: &Context) -> bool {
        self.0 != Confinement::Nothing && context.skills.offered.iter().any(|skill| !skill.files.is_empty())
    }

    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String> {
        let argv = argv(&context.skills, &typed(arguments)?)?;
        let program = Some(Program { argv, cwd: String::new() });
        Ok(Prepared { program, ..Prepared::new(Effect::Once, reach(self.0)) })
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, running: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            let arguments: Result<Arguments, String> = arguments(&permit.redeem().call);
            let argv = arguments.and_then(|given| Ok((argv(&context.skills, &given)?, given.timeout_seconds)));
            match argv {
                Ok((argv, seconds)) => {
                    let started = Started { ways: &[argv], folder: "".into(), timeout: timeout(seconds) };
                    started.run(context, running).await
                }
                Err(reason) => Output::error(reason),
            }
        })
    }
}

fn argv(skills: &SkillSet, arguments: &Arguments) -> Result<Vec<String>, String> {
    let Arguments { skill_name, script_name, args, .. } = arguments;
    let skill = find_skill(skills, skill_name)?;
    let file = script(skill, script_name)?;
    let mut argv = interpreter(skills, skill_name, file)?;
    argv.push(format!("{INSIDE}/{skill_name}/{file}"));
    argv.extend(words(args)?);
    match argv.iter().map(String::len).sum::<usize>() {
        0..=LONGEST => Ok(argv),
        long => Err(format!("`args`: have {long} bytes, at most {LONGEST} are passed; put the rest into a file")),
    }
}

/// One of the skill's own files, by its whole path or below `scripts/`. Nothing but a name that is listed is accepted, hence no
/// path leads out.
fn script<'a>(skill: &'a Offered, named: &str) -> Result<&'a str, String> {
    let inside = format!("{INSIDE}/{}/", skill.name);
    let named = named.strip_prefix(&inside).unwrap_or(named);
    let below = format!("{SCRIPTS}/{named}");
    let known = |path: &str| skill.files.iter().find(|file| *file == path);
    known(named).or_else(|| known(&below)).map(String::as_str).ok_or_else(|| match skill.files.is_empty() {
        true => format!("`script_name`: the skill `{}` has no scripts", skill.name),
        false => {
            format!(
                "`script_name`: the skill `{}` has no file `{named}`. It has: {}",
                skill.name,
                skill.files.join(", ")
            )
        }
    })
}

/// What may be executed is; of the rest the name says which program reads it.
fn interpreter(skills: &SkillSet, skill: &str, file: &str) -> Result<Vec<String>, String> {
    if skills.is_executable(skill, file)? {
        return Ok(Vec::new());
    }
    match Path::new(file).extension().and_then(|extension| extension.to_str()) {
        Some("py") => Ok(vec!["python3".to_owned()]),
        Some("sh") => Ok(vec!["bash".to_owned()]),
        Some("js") => Ok(vec!["node".to_owned()]),
        _ => Err(format!("`script_name`: `{file}` is no script: it is not executable, and not a .py, .sh or .js file")),
    }
}

fn words(args: &Map<String, Value>) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for (name, value) in args.iter().filter(|(name, _)| *name != POSITIONAL) {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if !name.starts_with(|letter: char| letter.is_ascii_alphanumeric()) || !name.chars().all(is_plain) {
            return Err(format!("`args.{name}`: is no name of an option: letters, digits, `-` and `_`"));
        }
        for value in each(value) {
            words.extend(option(name, value)?);
        }
    }
    for value in args.get(POSITIONAL).map(each).into_iter().flatten() {
        words.extend(word(POSITIONAL, value)?);
    }
    Ok(words)
}

fn each(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(values) => values.iter().collect(),
        value => vec![value],
    }
}

fn option(name: &str, value: &Value) -> Result<Vec<String>, String> {
    let named = format!("--{name}");
    match value {
        Value::Bool(true) => Ok(vec![named]),
        Value::Bool(false) => Ok(Vec::new()),
        value => Ok(word(name, value)?.map(|word| vec![named, word]).unwrap_or_default()),
    }
}

/// Text as it is, everything else as JSON writes it.
fn word(name: &str, value: &Value) -> Result<Option<String>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.contains('\0') => Err(format!("`args.{name}`: must not contain a zero byte")),
        Value::String(text) => Ok(Some(text.clone())),
        value => Ok(Some(value.to_string())),
    }
}
