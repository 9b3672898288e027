//! `windlass agent test` of a program that a server has: it is started there, as it would be for a task.

use super::far::Far;
use super::ordered::{Unsayable, sayable};
use crate::arguments::AgentTest;
use crate::commands::Errand;
use crate::exit::Exit;

pub async fn agent_test(far: &Far, arguments: AgentTest) -> anyhow::Result<Exit> {
    sayable(&[Unsayable { flag: "--rehearsal", is_said: arguments.rehearsal.is_some() }])?;
    far.errand(Errand::AgentTest(arguments)).await
}
