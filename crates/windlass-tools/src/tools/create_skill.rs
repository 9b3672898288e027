//! `create_skill` (seed 003's skill generator): what an agent has found out, kept as a skill of the workspace. A file like any other, so that
//! recovery and taint are those of `write`; but later tasks follow it, hence a person is asked for each.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::tool_name::CREATE_SKILL;
use windlass_domain::{BoxFuture, Permit, Prepared, Reach, ToolSpec};
use windlass_workspace::{SKILL_FOLDERS, WorkspacePath};

use crate::change;
use crate::context::Context;
use crate::skills::{Skill, SkillFile};
use crate::tool::{Output, Running, Tool, arguments, spec, typed};

/// What it replaces has to be read, to know what it was.
const LARGEST_REPLACED: u64 = 1024 * 1024;
const SKILL_FILE: &str = "SKILL.md";

#[derive(Debug, Clone, Copy)]
pub struct CreateSkill;

#[derive(Deserialize)]
struct Arguments {
    name: String,
    description: String,
    instructions: String,
}

impl Tool for CreateSkill {
    fn spec(&self) -> ToolSpec {
        spec(
            CREATE_SKILL,
            "Keep how something is done as a skill of this workspace, for later tasks. The user is asked first.",
            json!({
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "minLength": 1,
                        "description": "Small letters, digits and single dashes, such as \"pdf-extraction\"",
                    },
                    "description": {
                        "type": "string",
                        "minLength": 1,
                        "description": "What it is for and when to use it, on one line",
                    },
                    "instructions": {
                        "type": "string",
                        "minLength": 1,
                        "description": "What to do, in Markdown, without front matter",
                    },
                },
                "required": ["name", "description", "instructions"],
                "additionalProperties": false,
            }),
        )
    }

    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String> {
        let arguments: Arguments = typed(arguments)?;
        let told = |error: windlass_workspace::Error| error.to_string();
        let (path, text) = arguments.file()?;
        context.root.check_write(&path).map_err(told)?;
        let before = context.root.digest(&path).map_err(told)?;
        let did = if before.is_none() { "Created" } else { "Replaced" };
        let result =
            format!("{did} the skill `{}` ({path}). Tasks that begin from now on are offered it.", arguments.name);
        Ok(Prepared::new(change::intend(&path, before, text.as_bytes(), result), Reach::Context))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        let root = context.root.clone();
        Box::pin(context.runtime.blocking(move || {
            let known = arguments(&permit.call().call).and_then(|arguments: Arguments| arguments.file());
            match known {
                Ok((path, text)) => change::perform(permit, &root, &path, LARGEST_REPLACED, |_| Ok(text.into_bytes())),
                Err(reason) => Output::error(reason),
            }
        }))
    }
}

impl Arguments {
    /// Where it goes, and what it says: read as any skill is, so that what is written is one.
    fn file(&self) -> Result<(WorkspacePath, String), String> {
        let description = self.description.split_whitespace().collect::<Vec<_>>().join(" ");
        // In quotes that JSON and YAML agree on.
        let text = format!(
            "---\nname: {}\ndescription: {}\n---\n\n{}\n",
            self.name,
            Value::String(description),
            self.instructions.trim()
        );
        let file = SkillFile { path: SKILL_FILE.to_owned(), bytes: text.clone().into_bytes(), is_executable: false };
        Skill::from_files(&self.name, vec![file]).map_err(|why| format!("this would be no skill: {why}"))?;
        let path = format!("{}/{}/{SKILL_FILE}", SKILL_FOLDERS[0], self.name);
        Ok((WorkspacePath::parse(path).map_err(|error| error.to_string())?, text))
    }
}
