//! What the drivers in `peers/` have just measured, where they have: one JSON object a line.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use crate::figures::median;

#[derive(Debug, Default)]
pub struct Peers {
    records: Vec<Record>,
}

#[derive(Debug, Clone, Deserialize)]
struct Record {
    peer: String,
    #[serde(default)]
    mode: String,
    #[serde(default)]
    dur: String,
    #[serde(default)]
    n: Option<usize>,
    cpu_ms_step: Option<f64>,
    cpu_ms_at_400: Option<f64>,
    wall_s: Option<f64>,
    cpu_s: Option<f64>,
    rss_kb_agent: Option<f64>,
    agents: Option<usize>,
    first_ms: Option<f64>,
}

/// One peer in one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Peer {
    pub name: String,
    pub cpu_ms_20: Option<f64>,
    pub cpu_ms_100: Option<f64>,
    pub cpu_ms_at_400: Option<f64>,
    /// How many at once, then wall seconds, processor seconds, KB each.
    pub together: Option<(usize, f64, f64, f64)>,
    pub start_ms: Option<f64>,
}

impl Peers {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        // The drivers print nothing else that begins with a brace; what does not parse is a driver that failed.
        let records = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok(Self { records })
    }

    pub fn each(&self) -> Vec<Peer> {
        let mut names: Vec<String> = self.records.iter().map(Record::name).collect();
        names.sort();
        names.dedup();
        names.into_iter().map(|name| self.one(name)).collect()
    }

    fn one(&self, name: String) -> Peer {
        let of = |wanted: &dyn Fn(&Record) -> Option<f64>| {
            let values: Vec<f64> =
                self.records.iter().filter(|record| record.name() == name).filter_map(wanted).collect();
            (!values.is_empty()).then(|| median(values))
        };
        let steps =
            |count: usize| of(&|record| record.cpu_ms_step.filter(|_| record.is("steps") && record.n == Some(count)));
        let agents = of(&|record| record.agents.filter(|_| record.is("conc")).map(|agents| agents as f64));
        let together = |pick: fn(&Record) -> Option<f64>| of(&|record| pick(record).filter(|_| record.is("conc")));
        Peer {
            cpu_ms_20: steps(20),
            cpu_ms_100: steps(100),
            cpu_ms_at_400: of(&|record| record.cpu_ms_at_400),
            together: agents.and_then(|agents| {
                Some((
                    agents as usize,
                    together(|record| record.wall_s)?,
                    together(|record| record.cpu_s)?,
                    together(|record| record.rss_kb_agent)?,
                ))
            }),
            start_ms: of(&|record| record.first_ms),
            name,
        }
    }
}

impl Record {
    fn name(&self) -> String {
        match self.dur.as_str() {
            "" | "off" => self.peer.clone(),
            _ => format!("{}, durable", self.peer),
        }
    }

    fn is(&self, mode: &str) -> bool {
        self.mode == mode
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_apart_and_repeats_together() {
        let lines = r#"
            {"peer":"lg","mode":"steps","dur":"off","n":20,"cpu_ms_step":8.0}
            {"peer":"lg","mode":"steps","dur":"off","n":20,"cpu_ms_step":10.0}
            {"peer":"lg","mode":"steps","dur":"sync","n":20,"cpu_ms_step":12.0}
            {"peer":"lg","mode":"conc","dur":"sync","n":10,"agents":100,"wall_s":9.0,"cpu_s":8.0,"rss_kb_agent":110.0}
        "#;
        let records = lines.lines().filter_map(|line| serde_json::from_str(line.trim()).ok()).collect();
        let peers = Peers { records }.each();
        assert_eq!(
            peers.iter().map(|peer| (peer.name.as_str(), peer.cpu_ms_20)).collect::<Vec<_>>(),
            [("lg", Some(9.0)), ("lg, durable", Some(12.0))]
        );
        assert_eq!(peers[1].together, Some((100, 9.0, 8.0, 110.0)));
    }
}
