//! Plan documents with everything they hold: `windlass-plan` reads them, and their gates are held against the law's own reader.

use windlass_domain::plan::Plan;
use windlass_plan::{Problems, parse_plan};

use crate::gates::read_own_gate;

pub fn read_plan(document: &str) -> Result<Plan, Problems> {
    parse_plan(document, &|gate| read_own_gate(gate).map(drop))
}
