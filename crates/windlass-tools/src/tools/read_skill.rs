//! `read_skill` (seed 000 §10.1): a skill's instructions, or one of the files beside them, as they were when the task began.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, Permit, Prepared, ToolSpec};

use crate::context::Context;
use crate::skills::{INSIDE, Offered, SkillSet};
use crate::suggest::nearest;
use crate::text::{Content, content};
use crate::tool::{Nature, Output, Preparing, Running, Tool, arguments, spec, typed};
use crate::tools::list_skills::reach;

const INSTRUCTIONS: &str = "SKILL.md";
const LARGEST: u64 = 1024 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct ReadSkill;

#[derive(Deserialize)]
struct Arguments {
    name: String,
    file: Option<String>,
}

impl Tool for ReadSkill {
    fn spec(&self) -> ToolSpec {
        spec(
            "read_skill",
            "Read the instructions of a skill, or one of the files that belong to it. In the sandbox its files are at \
             /skills/<name>/, read-only.",
            json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string", "minLength": 1, "description": "As list_skills shows it" },
                    "file": { "type": "string", "description": "A file of the skill; SKILL.md by default" },
                },
                "required": ["name"],
                "additionalProperties": false,
            }),
        )
    }

    fn nature(&self) -> Nature {
        Nature::Looks
    }

    fn is_here(&self, context: &Context) -> bool {
        !context.skills.is_empty()
    }

    fn preparing(&self) -> Preparing {
        Preparing::AtOnce
    }

    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String> {
        let arguments: Arguments = typed(arguments)?;
        let (skill, _) = find(&context.skills, &arguments)?;
        Ok(Prepared::new(Effect::Read, reach(std::iter::once(skill))))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        let skills = context.skills.clone();
        Box::pin(context.runtime.blocking(move || {
            let read = arguments(&permit.redeem().call).and_then(|arguments: Arguments| read(&skills, &arguments));
            Output::from_result(read)
        }))
    }
}

/// One of the task's own.
pub(super) fn find_skill<'a>(skills: &'a SkillSet, name: &str) -> Result<&'a Offered, String> {
    skills.find(name).ok_or_else(|| {
        let names: Vec<&str> = skills.offered.iter().map(|skill| skill.name.as_str()).collect();
        let hint =
            nearest(name, names.iter().copied()).map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        format!("there is no skill `{name}`{hint} The skills are: {}", names.join(", "))
    })
}

/// The skill, and which of its files.
fn find<'a>(skills: &'a SkillSet, arguments: &'a Arguments) -> Result<(&'a Offered, &'a str), String> {
    let Arguments { name, file } = arguments;
    let skill = find_skill(skills, name)?;
    // As the sandbox shows it, or as it stands in the list.
    let file = file.as_deref().filter(|file| !file.is_empty()).unwrap_or(INSTRUCTIONS);
    let file = file.strip_prefix(&format!("{INSIDE}/{name}/")).unwrap_or(file);
    if file == INSTRUCTIONS || skill.files.iter().any(|known| known == file) {
        return Ok((skill, file));
    }
    Err(format!("the skill `{name}` has no file `{file}`. It has: {INSTRUCTIONS}{}", listed(skill)))
}

fn read(skills: &SkillSet, arguments: &Arguments) -> Result<String, String> {
    let (skill, file) = find(skills, arguments)?;
    let text = match content(skills.read(&skill.name, file, LARGEST)?) {
        Content::Text { text, .. } => text,
        Content::Binary { kind } => return Err(format!("`{file}` is {kind} and cannot be shown as text")),
    };
    match (file, skill.files.is_empty()) {
        (INSTRUCTIONS, false) => Ok(format!("{text}\n[files of this skill{}]", listed(skill).replacen(',', ":", 1))),
        _ => Ok(text),
    }
}

fn listed(skill: &Offered) -> String {
    skill.files.iter().map(|file| format!(", {file}")).collect()
}
