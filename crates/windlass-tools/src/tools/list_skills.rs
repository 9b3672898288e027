//! `list_skills` (seed 000 §10.1): what there is to read up on.

use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, Permit, Prepared, Reach, ToolSpec};

use crate::context::Context;
use crate::skills::{Offered, SkillSet};
use crate::tool::{Nature, Output, Preparing, Running, Tool, spec};

#[derive(Debug, Clone, Copy)]
pub struct ListSkills;

impl Tool for ListSkills {
    fn spec(&self) -> ToolSpec {
        spec(
            "list_skills",
            "List the skills that are available: instructions for particular kinds of work. read_skill shows one.",
            json!({ "type": "object", "properties": {}, "additionalProperties": false }),
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

    /// Names and descriptions of the workspace's own are the workspace's words.
    fn prepare(&self, _: &Value, context: &Context) -> Result<Prepared, String> {
        Ok(Prepared::new(Effect::Read, reach(context.skills.offered.iter())))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        drop(permit.redeem());
        Box::pin(std::future::ready(Output::ok(told(&context.skills))))
    }
}

/// What these skills were read from.
pub(super) fn reach<'a>(skills: impl Iterator<Item = &'a Offered>) -> Reach {
    let places: Vec<String> = skills.filter_map(|skill| skill.place.clone()).collect();
    if places.is_empty() { Reach::Context } else { Reach::Files(places) }
}

fn told(skills: &SkillSet) -> String {
    let line = |skill: &Offered| format!("{} ({}): {}", skill.name, skill.source.as_str(), skill.description);
    skills.offered.iter().map(line).collect::<Vec<_>>().join("\n")
}
