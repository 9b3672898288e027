//! Redis streams for `windlass serve`: what comes in by them is carried out as `run` and `say` do it, with what the operator chose.

use std::sync::Arc;

use windlass_engine::Planning;
use windlass_server::port::Journal;
use windlass_server::redis::RedisDoor;

use super::order::Order;
use super::patterns::gather_patterns;
use super::run::submission;
use super::say::template;
use crate::arguments::{Limits, PlanningLimits, SandboxChoice};
use crate::config::Config;
use crate::redis::{Templates, folder, open};
use crate::wiring::Windlass;

/// What every goal stands in for until there is one.
const ANY: &str = "whatever is asked for";

/// Read before anything is opened, so that what is wrong with it is said at once. None: there is no Redis.
pub async fn templates(config: &Config) -> anyhow::Result<Option<Templates>> {
    let Some(workspace) = folder(config)? else { return Ok(None) };
    let said = &config.file.redis;
    let patterns = gather_patterns(config, &workspace).await?;
    let asked_by = |limits: Limits| Order {
        model: said.model.clone(),
        rehearsal: said.rehearsal.clone(),
        limits,
        sandbox: SandboxChoice { sandbox: said.sandbox, no_isolation: false },
        ..Order::new(ANY, workspace.clone())
    };
    let direct = asked_by(Limits {
        max_tokens: said.max_tokens,
        max_cost: said.max_cost_usd,
        max_attempts: said.max_attempts,
        ..Limits::default()
    });
    let talk = asked_by(PlanningLimits::default().into());
    let direct = submission(&direct, config, Planning::None, &patterns)?;
    Ok(Some(Templates { direct, talk: template(&talk, config, &patterns)? }))
}

pub fn door(
    config: &Config,
    templates: Option<Templates>,
    windlass: &Windlass,
    journal: Arc<dyn Journal>,
) -> anyhow::Result<Option<RedisDoor>> {
    match (templates, config.redis_url.clone()) {
        (Some(templates), Some(url)) => Ok(Some(open(config, url, templates, windlass, journal)?)),
        _ => Ok(None),
    }
}
