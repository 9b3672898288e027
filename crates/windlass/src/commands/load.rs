//! The configuration of a command that lets agents work. Any mistake stops it; a law that cannot be read is in the audit, too.

use crate::config::{Config, Reading, together};
use crate::law::Law;
use crate::wiring::Windlass;

pub async fn load_to_work() -> anyhow::Result<Config> {
    let Reading { config, problems } = Config::read()?;
    let Some(problem) = together(problems) else { return Ok(config) };
    if let Err(unreadable) = Law::read(&config.data_dir) {
        let windlass = Windlass::open(config).await?;
        windlass.engine.audit_refused("gates.yaml or risk.toml", &unreadable.message).await?;
        windlass.engine.close().await?;
    }
    Err(problem.into())
}
