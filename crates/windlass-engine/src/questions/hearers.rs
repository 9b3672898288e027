//! Who hears what is said to a task, whichever door it comes in by.

use windlass_domain::{QuestionAsked, RequestId, TaskId};

use crate::Error;
use crate::engine::Engine;

impl Engine {
    /// A planned task has no agent of its own: who asked hears the answer, and all who work on items or write the plan hear anything
    /// else. There may be nobody.
    pub async fn hearers(&self, task: TaskId, question: Option<RequestId>) -> Result<Vec<TaskId>, Error> {
        if !self.task(task).await?.created.is_some_and(|created| created.planned) {
            return Ok(vec![task]);
        }
        let members = self.members(task).await?;
        let open = self.questions().await?.into_iter().map(|open| open.asked);
        let is_meant = |asked: &QuestionAsked| question.is_none_or(|named| named == asked.request_id);
        let open: Vec<QuestionAsked> =
            open.filter(|asked| members.contains(&asked.task_id) && is_meant(asked)).collect();
        match open.as_slice() {
            [] => Ok(self.graph(task).await?.running()),
            [only] => Ok(vec![only.task_id]),
            _ => Err(Error::SeveralQuestions { task, open }),
        }
    }
}
