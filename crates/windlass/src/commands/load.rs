//! The configuration of a command that lets agents work. Any mistake stops it; a law that cannot be read is in the audit, too.

use crate::config::{Config, Reading, together};
use crate::law::Law;
use crate::wiring::Windlass;

pub async fn load_to_work() -> anyhow::Result<Config> {
    let Reading { config, problems } = read_to_work().await?;
    together(problems).map_or(Ok(config), |problem| Err(problem.into()))
}

/// For a command that has more to look at before it tells what is wrong.
pub async fn read_to_work() -> anyhow::Result<Reading> {
    let reading = Config::read()?;
    if let (false, Err(unreadable)) = (reading.problems.is_empty(), Law::read(&reading.config.data_dir)) {
        let windlass = Windlass::open(reading.config.clone()).await?;
        windlass.engine.audit_refused("gates.yaml or risk.toml", &unreadable.message).await?;
        windlass.engine.close().await?;
    }
    Ok(reading)
}
