//! What the flags of `windlass redirect` ask for.

use std::collections::BTreeMap;

use windlass_domain::role_output::{WantedBinding, WantedChange, WantedGraph, WantedObjective, Written};

use crate::arguments::Redirect;
use crate::exit::WrongUse;

pub fn flags(arguments: &Redirect) -> Result<WantedChange, WrongUse> {
    let Redirect { objective, limits, add, to, drop, select, binding, .. } = arguments;
    let written = |texts: &[String]| texts.iter().cloned().map(Written).collect();
    Ok(WantedChange {
        message: String::new(),
        objective: WantedObjective {
            goal: objective.goal.clone(),
            base_case: written(&objective.base_case),
            intent: objective.intent.clone(),
            deliverables: objective.deliverables.clone(),
            done: objective.done.clone(),
        },
        graph: WantedGraph { add: written(add), to: to.clone(), drop: drop.clone(), select: selected(select)? },
        limits: limits.wanted(),
        binding: binding.as_deref().map(bound).transpose()?,
    })
}

fn selected(select: &[String]) -> Result<BTreeMap<String, String>, WrongUse> {
    let mut taken = BTreeMap::new();
    for text in select {
        let (group, choice) = pair(text).ok_or_else(|| {
            WrongUse::new(format!("--select `{text}` names no choice")).hint("write it as GROUP=CHOICE")
        })?;
        if let Some(other) = taken.insert(group.clone(), choice) {
            return Err(WrongUse::new(format!("--select takes `{other}` and another for `{group}`"))
                .hint("name one choice of each group"));
        }
    }
    Ok(taken)
}

fn bound(text: &str) -> Result<WantedBinding, WrongUse> {
    let (atom, text) = pair(text).ok_or_else(|| {
        WrongUse::new(format!("--binding `{text}` says nothing of an atom")).hint("write it as ATOM=TEXT")
    })?;
    Ok(WantedBinding { atom, text })
}

/// What stands on both sides of the first `=`.
pub fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}
