//! `windlass gates list`: the gates that hold here, the shipped one first.

use serde_json::{Value, json};
use windlass_policy::gate::{Gate, Provider, risk_gate};

use crate::arguments::Output;
use crate::config::Config;
use crate::exit::Exit;
use crate::show::{Line, Screen, print_json, word};

pub fn gates_list(output: Output) -> anyhow::Result<Exit> {
    list(&Config::load()?, output);
    Ok(Exit::Completed)
}

fn list(config: &Config, output: Output) {
    let shipped = risk_gate();
    let all = std::iter::once((&shipped, "shipped")).chain(config.law.gates.iter().map(|gate| (gate, "gates.yaml")));
    let all: Vec<(&Gate, &str)> = all.collect();
    if output.json {
        all.iter().for_each(|(gate, source)| print_json(&described(gate, source)));
        return print_json(&json!({"type": "result", "gates": all.len()}));
    }
    let mut screen = Screen::new();
    let width = all.iter().map(|(gate, _)| gate.name.chars().count()).max().unwrap_or_default();
    for (gate, source) in all {
        let (lane, on_block) = (word(&gate.provider.lane()), word(&gate.on_block));
        let promoted = if gate.promote_to_policy { ", promoted" } else { "" };
        let line = Line::new()
            .plain(format!("{:<width$}  ", gate.name))
            .dim(format!("{:<20}  ", word(&gate.on)))
            .plain(format!("{:<15}  ", word(&gate.kind)))
            .dim(format!("{:<9}  {lane:<7}  on block: {on_block}  ({source}{promoted})", provider(gate)));
        screen.print_whole(&line);
    }
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
