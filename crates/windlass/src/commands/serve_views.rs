//! What `windlass serve` shows as the commands of the same name do with `--json`.

use std::path::Path;

use serde_json::Value;
use windlass_domain::Labels;
use windlass_engine::Engine;
use windlass_server::port::View;

use super::agents;
use super::gates_list::described_all;
use super::graph::as_object;
use super::patterns::objects;
use super::planned_task::{known_of, no_plan_yet};
use super::skills;
use crate::config::Config;
use crate::explain::whole_as_json;
use crate::patterns::Patterns;
use crate::skills::SkillSources;

/// `folder` is the first that is listed for the tenant whose engine it is, if any is.
pub async fn view(config: &Config, engine: &Engine, folder: Option<&Path>, wanted: View) -> anyhow::Result<Value> {
    Ok(match wanted {
        View::Graph(task) => {
            let known = known_of(engine, task).await?;
            as_object(&known).ok_or_else(|| no_plan_yet(&known))?
        }
        View::Explain(task) => whole_as_json(&known_of(engine, task).await?),
        View::Agents => agents::described(config).into(),
        View::Patterns => objects(&Patterns::gather(config, folder, &labels(engine, folder).await?)).into(),
        View::Skills => {
            let labels = labels(engine, folder).await?;
            skills::objects(&SkillSources::new(config).gather(folder, &labels)).into()
        }
        View::Gates => described_all(config).into(),
    })
}

async fn labels(engine: &Engine, folder: Option<&Path>) -> Result<Labels, windlass_engine::Error> {
    match folder {
        Some(folder) => engine.labels(folder).await,
        None => Ok(Labels::default()),
    }
}
