//! `windlass plan REQUEST`: a planner writes a plan, a person looks at it, and agents carry it out. `windlass plan check FILE` only
//! looks at a document.

use windlass_engine::Planning;

use super::plan_check::plan_check;
use super::run::{Waiting, begin};
use crate::arguments::{Plan, PlanAction};
use crate::exit::Exit;

pub async fn plan(arguments: Plan) -> anyhow::Result<Exit> {
    if let Some(PlanAction::Check(check)) = &arguments.action {
        return plan_check(check);
    }
    let deadline = arguments.deadline.clone();
    let waiting = Waiting { detach: arguments.detach, deadline, output: arguments.output };
    begin(arguments.into(), Planning::Wanted, waiting).await
}
