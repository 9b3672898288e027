//! `windlass gates list`: the gates that hold here, the shipped one first.

use serde_json::{Value, json};
use windlass_policy::gate::{Gate, Provider, risk_gate};

use crate::arguments::Output;
use crate::config::Config;
use crate::exit::Exit;
use crate::show::{Line, Sheet, word};

pub fn gates_list(output: Output) -> anyhow::Result<Exit> {
    Ok(gates_listed(&Config::load()?, output).show())
}

pub fn gates_listed(config: &Config, output: Output) -> Sheet {
    let shipped = risk_gate();
    let all = std::iter::once((&shipped, "shipped")).chain(config.law.gates.iter().map(|gate| (gate, "gates.yaml")));
    let all: Vec<(&Gate, &str)> = all.collect();
    let mut sheet = Sheet::new();
    if output.json {
        all.iter().for_each(|(gate, source)| sheet.object(&described(gate, source)));
        sheet.object(&json!({"type": "result", "gates": all.len()}));
        return sheet;
    }
    let width = all.iter().map(|(gate, _)| gate.name.chars().count()).max().unwrap_or_default();
    for (gate, source) in all {
        let (lane, on_block) = (word(&gate.provider.lane()), word(&gate.on_block));
        let promoted = if gate.promote_to_policy { ", promoted" } else { "" };
        let line = Line::new()
            .plain(format!("{:<width$}  ", gate.name))
            .dim(format!("{:<20}  ", word(&gate.on)))
            .plain(format!("{:<15}  ", word(&gate.kind)))
            .dim(format!("{:<9}  {lane:<7}  on block: {on_block}  ({source}{promoted})", provider(gate)));
        sheet.print_whole(&line);
    }
    sheet
}

/// All of them, for a program.
pub(super) fn described_all(config: &Config) -> Vec<Value> {
    let shipped = described(&risk_gate(), "shipped");
    std::iter::once(shipped).chain(config.law.gates.iter().map(|gate| described(gate, "gates.yaml"))).collect()
}

fn described(gate: &Gate, source: &str) -> Value {
    json!({
        "type": "gate",
        "name": gate.name,
        "on": gate.on,
        "gate_type": gate.kind,
        "provider": provider(gate),
        "lane": gate.provider.lane(),
        "on_block": gate.on_block,
        "promote_to_policy": gate.promote_to_policy,
        "source": source,
    })
}

fn provider(gate: &Gate) -> &str {
    match &gate.provider {
        Provider::Predicate => "predicate",
        Provider::Script => "script",
        Provider::Llm => "llm",
        Provider::Unknown(name) => name,
    }
}
