//! What somebody who only looked says of an item: whether it can be done. Findings are a summary: what is too long for one is a log, and
//! is handed back. Of an answer in no form nobody makes a no.

use super::object;
use super::worker::{SUMMARY_CHARS, beginning};
use crate::graph::ProbeReport;

/// What a text means, whatever its form.
pub fn probe_report(text: &str) -> ProbeReport {
    match object::read::<ProbeReport>(text) {
        Ok(report) if !report.findings.trim().is_empty() => ProbeReport {
            feasible: report.feasible,
            findings: beginning(&report.findings),
            cost_estimate: report.cost_estimate.as_deref().map(beginning),
        },
        _ => ProbeReport { feasible: true, findings: beginning(text), cost_estimate: None },
    }
}

pub fn read_probe_report(text: &str) -> Result<ProbeReport, String> {
    let report: ProbeReport = object::read(text)?;
    let length = report.findings.trim().chars().count();
    match length {
        0 => Err("`findings` is empty: say what you found".to_owned()),
        1..=SUMMARY_CHARS => Ok(report),
        _ => Err(format!("`findings` has {length} characters, and may have {SUMMARY_CHARS}: sum up what you found")),
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

    #[test]
    fn a_log_is_handed_back_and_a_no_stays_one() {
        let log = "no such file\n".repeat(100);
        let text = serde_json::json!({"feasible": false, "findings": log}).to_string();
        assert!(read_probe_report(&text).unwrap_err().contains("sum up what you found"));
        let report = probe_report(&text);
        assert_eq!((report.feasible, report.findings.chars().count()), (false, SUMMARY_CHARS));
    }
}
