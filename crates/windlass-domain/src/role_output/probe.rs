//! What somebody who only looked says of an item: whether it can be done. Of an answer in no form nobody makes a no.

use super::object;
use crate::graph::ProbeReport;

/// Of an answer in no form.
const FINDINGS_CHARS: usize = 1_000;

/// What a text means, whatever its form.
pub fn probe_report(text: &str) -> ProbeReport {
    read_probe_report(text).unwrap_or_else(|_| ProbeReport {
        feasible: true,
        findings: text.trim().chars().take(FINDINGS_CHARS).collect(),
        cost_estimate: None,
    })
}

pub fn read_probe_report(text: &str) -> Result<ProbeReport, String> {
    let report: ProbeReport = object::read(text)?;
    match report.findings.trim().is_empty() {
        true => Err("`findings` is empty: say what you found".to_owned()),
        false => Ok(report),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_report_says_no() {
        let read = read_probe_report(r#"{"feasible": false, "findings": "There is no compiler."}"#).unwrap();
        assert!(!read.feasible);
        for bad in ["No.", "{}", r#"{"feasible": false}"#, r#"{"feasible": false, "findings": " "}"#] {
            assert!(read_probe_report(bad).is_err(), "{bad}");
            assert!(probe_report(bad).feasible, "{bad}");
        }
        assert_eq!(probe_report(" It looks hard. ").findings, "It looks hard.");
    }
}
