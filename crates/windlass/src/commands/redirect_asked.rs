//! `windlass redirect` without a word at a terminal: which of the four kinds of changes it is to be, and what it needs to know for that.

use std::str::FromStr;

use windlass_domain::Runtime;
use windlass_domain::graph::GraphState;
use windlass_domain::role_output::{WantedBinding, WantedChange, WantedLimits, Written};

use super::dialogue::one_line;
use super::redirect_flags::pair;
use crate::exit::WrongUse;
use crate::keyboard::Keyboard;
use crate::show::{Line, Screen, Style};

const KINDS: [&str; 4] = [
    "1  the objective: its goal, its checks, why, what comes of it, when it is done",
    "2  the graph: another atom, one less, or another way",
    "3  its limits: passes, agents at once, atoms",
    "4  what an atom came to",
];

/// None: nothing is to be different after all.
pub async fn asked(runtime: &dyn Runtime, graph: &GraphState) -> anyhow::Result<Option<WantedChange>> {
    let Some(keyboard) = Keyboard::look() else {
        return Err(WrongUse::new("nothing is to be different")
            .hint(
                "say it in words (windlass redirect TASK \"…\"), or change the objective (--goal, --base-case, --intent, --deliverable, --done), \
                 the graph (--add, --drop, --select), its limits (--max-iterations, …), or what an atom came to (--binding)",
            )
            .into());
    };
    match fill_in(&Form { runtime, keyboard }, graph).await {
        Err(error) if error.is::<Left>() => Ok(None),
        filled => filled,
    }
}

async fn fill_in(form: &Form<'_>, graph: &GraphState) -> anyhow::Result<Option<WantedChange>> {
    let mut screen = Screen::new();
    screen.print(&Line::new().add(Style::Bold, "What is to be different?"));
    KINDS.iter().for_each(|kind| screen.print(&Line::new().plain(format!("  {kind}"))));
    let Some(kind) = form.line("1, 2, 3 or 4; Enter leaves it as it is: ").await? else { return Ok(None) };
    let mut wanted = WantedChange::default();
    match kind.as_str() {
        "1" => form.objective(&mut wanted, graph).await?,
        "2" => form.graph(&mut wanted, graph).await?,
        "3" => form.limits(&mut wanted, graph).await?,
        "4" => form.binding(&mut wanted, graph).await?,
        other => {
            let mistake = WrongUse::new(format!("`{other}` is none of 1, 2, 3 and 4"));
            return Err(mistake.hint("begin again: windlass redirect").into());
        }
    }
    Ok(Some(wanted).filter(|wanted| !wanted.is_empty()))
}

/// Whoever was asked went away in the middle of it.
#[derive(Debug, thiserror::Error)]
#[error("nobody said what is to be different")]
struct Left;

struct Form<'a> {
    runtime: &'a dyn Runtime,
    keyboard: Keyboard,
}

impl Form<'_> {
    /// None: it stays as it is.
    async fn line(&self, question: &str) -> anyhow::Result<Option<String>> {
        let said = one_line(self.runtime, self.keyboard, question).await?;
        let said = said.ok_or(Left)?.trim().to_owned();
        Ok(Some(said).filter(|said| !said.is_empty()))
    }

    /// Until Enter.
    async fn lines(&self, question: &str) -> anyhow::Result<Vec<String>> {
        let mut said = Vec::new();
        while let Some(line) = self.line(question).await? {
            said.push(line);
        }
        Ok(said)
    }

    async fn objective(&self, wanted: &mut WantedChange, graph: &GraphState) -> anyhow::Result<()> {
        if let Some(agreed) = &graph.objective {
            facts(
                [format!("goal: {}", agreed.goal)]
                    .into_iter()
                    .chain(agreed.base_case.0.iter().map(|check| format!("check: {}", check.probe.in_words()))),
            );
        }
        let objective = &mut wanted.objective;
        objective.goal = self.line("The goal, or Enter: ").await?;
        let checks = self.lines("A check instead of those, as `command: make test`, or Enter: ").await?;
        objective.base_case = checks.into_iter().map(Written).collect();
        objective.intent = self.line("Why, or Enter: ").await?;
        objective.deliverables = self.lines("What comes of it, or Enter: ").await?;
        objective.done = self.line("When you would call it done, or Enter: ").await?;
        Ok(())
    }

    async fn graph(&self, wanted: &mut WantedChange, graph: &GraphState) -> anyhow::Result<()> {
        facts(graph.work.nodes().iter().skip(1).map(|node| match &node.item.any_of {
            Some(group) => format!("{}, a choice of {group}: {}", node.id(), node.item.title),
            None => format!("{}: {}", node.id(), node.item.title),
        }));
        let adjusted = &mut wanted.graph;
        adjusted.drop = self.lines("An atom to do without, or Enter: ").await?;
        for taken in self.lines("A way to take, as GROUP=CHOICE, or Enter: ").await? {
            let (group, choice) = pair(&taken)
                .ok_or_else(|| WrongUse::new(format!("`{taken}` names no choice")).hint("write it as GROUP=CHOICE"))?;
            adjusted.select.insert(group, choice);
        }
        let add = self.lines("A new atom, as `{id: …, description: …}`, or Enter: ").await?;
        if !add.is_empty() {
            adjusted.to = self.line("What is to hold it, or Enter for the whole: ").await?;
        }
        adjusted.add = add.into_iter().map(Written).collect();
        Ok(())
    }

    async fn limits(&self, wanted: &mut WantedChange, graph: &GraphState) -> anyhow::Result<()> {
        let now = graph.objective.as_ref().map(|agreed| agreed.constraints.clone()).unwrap_or_default();
        let passes = now.max_iterations.map_or_else(|| "as many as it takes".to_owned(), |most| most.to_string());
        let WantedLimits {
            max_iterations,
            max_parallel_agents,
            max_stall_count,
            max_atoms,
            max_choices,
            max_split_depth,
            max_replan_depth,
        } = &mut wanted.limits;
        *max_iterations = self.number("Passes in all", &passes).await?;
        *max_parallel_agents = self.number("Agents at once", &now.max_parallel_agents.to_string()).await?;
        *max_stall_count = self.number("Passes without progress", &now.max_stall_count.to_string()).await?;
        *max_atoms = self.number("Atoms in all", &now.max_atoms.to_string()).await?;
        *max_choices = self.number("Choices in all", &now.max_choices.to_string()).await?;
        *max_split_depth = self.number("Splits of splits", &now.max_split_depth.to_string()).await?;
        *max_replan_depth = self.number("Plans after the first", &now.max_replan_depth.to_string()).await?;
        Ok(())
    }

    async fn number<Number: FromStr>(&self, what: &str, now: &str) -> anyhow::Result<Option<Number>> {
        let Some(said) = self.line(&format!("{what}, now {now}, or Enter: ")).await? else { return Ok(None) };
        let number = said.parse().map_err(|_| {
            WrongUse::new(format!("`{said}` is no number that this can be")).hint("begin again: windlass redirect")
        })?;
        Ok(Some(number))
    }

    async fn binding(&self, wanted: &mut WantedChange, graph: &GraphState) -> anyhow::Result<()> {
        let done = graph.work.nodes().iter().filter_map(|node| {
            let summary = graph.progress(node.id())?.summary()?;
            Some(format!("{}: {summary}", node.id()))
        });
        facts(done);
        let Some(atom) = self.line("Which atom that is done, or Enter: ").await? else { return Ok(()) };
        let Some(text) = self.line("What it came to: ").await? else { return Ok(()) };
        wanted.binding = Some(WantedBinding { atom, text });
        Ok(())
    }
}

fn facts(facts: impl Iterator<Item = String>) {
    let mut screen = Screen::new();
    facts.for_each(|fact| screen.print_whole(&Line::marked(Style::Dim, "  ").dim(fact)));
}
