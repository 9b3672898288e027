//! What `windlass plan check` and `windlass patterns check` say of a file, for whoever writes one elsewhere. Nothing is run.

use serde_json::json;
use windlass_api::{CheckRequest, Checked, DocumentWord, Misfit};
use windlass_domain::Usd;
use windlass_domain::approval::bound_plan;
use windlass_domain::plan::Plan;
use windlass_engine::{fit_goal, read_plan};
use windlass_plan::{Problems, parse_pattern};

pub fn checked(request: &CheckRequest) -> Checked {
    let read = match request.kind {
        DocumentWord::Plan => read_plan(&request.document).map(as_plan).map_err(|problems| misfits(&problems)),
        DocumentWord::Goal => goal(&request.document),
        DocumentWord::Pattern => match parse_pattern(&request.document) {
            Ok(pattern) => Ok(Checked { misfits: Vec::new(), read: Some(json!(pattern)), worst_case: None }),
            Err(problems) => Err(misfits(&problems)),
        },
    };
    read.unwrap_or_else(|misfits| Checked { misfits, read: None, worst_case: None })
}

fn goal(document: &str) -> Result<Checked, Vec<Misfit>> {
    let plan = read_plan(document).map_err(|problems| misfits(&problems))?;
    // What is missing stands nowhere.
    fit_goal(&plan).map_err(|error| vec![Misfit { line: 1, column: 1, message: error.to_string() }])?;
    Ok(as_plan(plan))
}

/// Which model will be asked, and hence what one call of it can cost, is not known here.
fn as_plan(plan: Plan) -> Checked {
    let worst = bound_plan(&plan, (0, Usd::ZERO));
    Checked { misfits: Vec::new(), read: Some(json!(plan)), worst_case: Some(json!(worst)) }
}

fn misfits(problems: &Problems) -> Vec<Misfit> {
    let misfit = |problem: &windlass_plan::Problem| Misfit {
        line: problem.at.line,
        column: problem.at.column,
        message: problem.message.clone(),
    };
    problems.iter().map(misfit).collect()
}
