//! `context.md` beside the trace: where work that is led by a pattern stands, made of the journal whenever its step changes and when it
//! comes to rest. A file that cannot be written is no reason to stop; nothing is ever read from it.

use windlass_domain::Host as _;
use windlass_domain::execution::{ExecutionEvent, TaskMessage};
use windlass_domain::pattern::context_page;

use super::execution_host::ExecutionHost;
use crate::page_file::replace_page;

pub const fn is_of_pattern(event: &ExecutionEvent) -> bool {
    matches!(event, ExecutionEvent::PatternStepped(_) | ExecutionEvent::PatternNudged(_))
}

impl ExecutionHost {
    /// What it is told, which its page begins with.
    pub async fn brief(&self, task: TaskMessage) {
        let _it_was_told = self.briefing.set(task);
        self.write_context().await;
    }

    pub async fn write_context(&self) {
        let state = self.state();
        let is_led = state.header.as_ref().is_some_and(|header| header.pattern.is_some());
        let Some(task) = self.briefing.get().filter(|_| is_led) else { return };
        let page = context_page(task, &state).whole();
        drop(state);
        let page = self.shared.redactor.redact(&page).into_owned();
        let path = self.shared.data_dir.join("traces").join(self.task.to_string()).join("context.md");
        let written = self.shared.blocking(move || replace_page(&path, &page)).await;
        if let Err(error) = written {
            self.watcher.trouble(&format!("context.md could not be written: {error}"));
        }
    }
}
