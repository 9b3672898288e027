//! `ExecutorAgentOutput`: what an executor says of its work. Of an answer in no form, its beginning is the summary. Artifacts it names
//! are held against what was in fact made.

use serde::{Deserialize, Serialize};

use super::object;

/// Of an answer in no form.
const SUMMARY_CHARS: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutorAgentOutput {
    pub summary: String,
    #[serde(default)]
    pub artifact_refs: Vec<String>,
    #[serde(default)]
    pub next_steps: Vec<String>,
}

impl ExecutorAgentOutput {
    /// What a text means, whatever its form.
    pub fn of(text: &str) -> Self {
        read_executor_output(text)
            .unwrap_or_else(|_| Self { summary: text.trim().chars().take(SUMMARY_CHARS).collect(), ..Self::default() })
    }
}

pub fn read_executor_output(text: &str) -> Result<ExecutorAgentOutput, String> {
    let output: ExecutorAgentOutput = object::read(text)?;
    match output.summary.trim().is_empty() {
        true => Err("`summary` is empty: say what was done".to_owned()),
        false => Ok(output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_read_with_its_defaults() {
        let read = read_executor_output(r#"{"summary": "Done.", "artifact_refs": ["output/a.md"]}"#).unwrap();
        assert_eq!((read.summary.as_str(), read.artifact_refs.len(), read.next_steps.len()), ("Done.", 1, 0));
        for bad in ["", "Done.", "{}", r#"{"summary": ""}"#, r#"{"summary": "x", "artifacts": []}"#] {
            assert!(read_executor_output(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn prose_is_its_own_summary_and_claims_nothing() {
        let long = format!("  Made it. {}", "é".repeat(2_000));
        let output = ExecutorAgentOutput::of(&long);
        assert_eq!(output.summary.chars().count(), 1_000);
        assert!(output.summary.starts_with("Made it."));
        assert_eq!((output.artifact_refs.len(), output.next_steps.len()), (0, 0));
        assert_eq!(ExecutorAgentOutput::of(r#"{"summary": "Done."}"#).summary, "Done.");
    }
}
