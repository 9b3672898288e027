//! Answering `memory_search`: what the tenant remembers of earlier tasks, with where each comes from. The call's result is as
//! trustworthy as the least of what was found, whatever the call said that it would read.

use windlass_domain::{CallId, HostReply, Memory, Taint};

use super::execution_host::ExecutionHost;
use crate::memories::{Recalled, recall};

impl ExecutionHost {
    pub(super) async fn search_memory(&self, call_id: CallId, query: &str, limit: usize) -> HostReply {
        let recalled = recall(&self.shared, query, limit, &self.cancel).await;
        let taint = recalled.as_ref().map_or(Taint::Owner, Recalled::taint);
        self.memory().recalled.insert(call_id, taint);
        match recalled {
            Ok(recalled) => HostReply::Told(told(&recalled, query)),
            Err(error) => HostReply::Declined(format!("the memory cannot be searched: {error}")),
        }
    }
}

fn told(recalled: &Recalled, query: &str) -> String {
    let Recalled { found, kept, remark } = recalled;
    let mut parts: Vec<String> = found.iter().map(one).collect();
    match (found.is_empty(), kept) {
        (false, _) => {}
        (true, 0) => parts.push("Nothing is remembered yet: no task has ended here.".to_owned()),
        (true, _) => parts.push(format!("None of {kept} memories matches \"{query}\". Try other words.")),
    }
    parts.extend(remark.as_ref().map(|remark| format!("[{remark}]")));
    parts.join("\n\n")
}

/// Every line of a memory is set in, so that none of them can pass for the head of another.
fn one(memory: &Memory) -> String {
    let label = match memory.taint {
        Taint::External => ", made of external content",
        Taint::Auth | Taint::Owner => "",
    };
    let lines: String = memory.text.lines().map(|line| format!("\n  {line}")).collect();
    format!("{}{label}:{lines}", memory.origin())
}
