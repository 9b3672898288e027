//! How a plan of engines becomes shorter and plainer.

use std::time::Duration;

use crate::engines::plan::{Act, Deed, EnginePlan, Job, Kind, Mood};
use crate::engines::project::{Draft, Guidance, Inquiry, Item, Project};
use crate::shrink::Plot;

impl Plot for EnginePlan {
    fn acts(&self) -> usize {
        self.acts.len()
    }

    fn without(&self, at: usize, count: usize) -> Self {
        let mut shorter = self.clone();
        shorter.acts.drain(at..(at + count).min(self.acts.len()));
        shorter
    }

    fn plainer(&self) -> Vec<Self> {
        let mut plans = Vec::new();
        for (at, act) in self.acts.iter().enumerate() {
            let plainer: Vec<Act> = match act {
                Act::Submits(job) => plainer(job).into_iter().map(Act::Submits).collect(),
                Act::Plans(project) => plainer_project(project).into_iter().map(Box::new).map(Act::Plans).collect(),
                _ => continue,
            };
            for act in plainer {
                let mut plan = self.clone();
                plan.acts[at] = act;
                plans.push(plan);
            }
        }
        if self.workers > 1 {
            plans.push(Self { workers: self.workers - 1, ..self.clone() });
        }
        if self.concurrency > 1 {
            plans.push(Self { concurrency: 1, ..self.clone() });
        }
        plans
    }

    fn in_order(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    fn aimed(&self, at: usize, call: u32) -> Option<Self> {
        let Act::Befalls { worker, blow, .. } = self.acts[at] else { return None };
        let mut aimed = self.clone();
        aimed.acts[at] = Act::Befalls { worker, call, blow };
        Some(aimed)
    }
}

/// Each in one way; what is as plain as it can be stays as it is.
fn plainer(job: &Job) -> Vec<Job> {
    let fewer = job.deeds.len().saturating_sub(1);
    let plain = |deed: &Deed| Deed { kind: Kind::Plain, ..*deed };
    let quick = |deed: &Deed| Deed { seconds: 0, ..*deed };
    let variants = [
        Job { deeds: job.deeds[..fewer].to_vec(), ..job.clone() },
        Job { deeds: job.deeds.iter().map(plain).collect(), ..job.clone() },
        Job { deeds: job.deeds.iter().map(quick).collect(), ..job.clone() },
        Job { model: Mood::Well, ..job.clone() },
        Job { is_signed: true, ..job.clone() },
        Job { is_open: false, ..job.clone() },
        Job { lost_answers: 0, ..job.clone() },
        Job { deadline: None, ..job.clone() },
        Job { at: Duration::ZERO, ..job.clone() },
    ];
    variants.into_iter().filter(|variant| variant != job).collect()
}

fn plainer_project(project: &Project) -> Vec<Project> {
    let fewer = project.first.items.len().saturating_sub(1).max(1);
    let shorter = Draft { items: project.first.items[..fewer].to_vec(), inner: None, ..project.first.clone() };
    let flat = Draft { inner: None, ..project.first.clone() };
    let easy = |item: &Item| Item { fails: 0, overlaps: false, ..item.clone() };
    let easier = Draft { items: project.first.items.iter().map(easy).collect(), ..project.first.clone() };
    let variants = [
        Project { first: shorter, ..project.clone() },
        Project { first: easier, ..project.clone() },
        Project { first: flat, ..project.clone() },
        Project { inquiry: Inquiry::default(), ..project.clone() },
        Project { second: None, ..project.clone() },
        Project { edits: Vec::new(), ..project.clone() },
        Project { guidance: Guidance::Answers, ..project.clone() },
    ];
    variants.into_iter().filter(|variant| variant != project).collect()
}
