//! `windlass log --timeline [TASK]`: the turns of each of its executions, projected from their journals.

use serde_json::{Value, json};
use windlass_domain::execution::{ExecutionEvent, Header};
use windlass_domain::timeline::timeline;
use windlass_domain::{ExecutionId, Wall};
use windlass_engine::{Engine, JournalRecord};

use super::drive::explain;
use super::subject::Subject;
use crate::arguments::Output;
use crate::exit::Exit;
use crate::show::{Line, Screen, Style, print_json, turn_lines};

struct Journal {
    execution: ExecutionId,
    events: Vec<(Box<ExecutionEvent>, Wall)>,
}

impl Journal {
    fn header(&self) -> Option<&Header> {
        self.events.iter().find_map(|(event, _)| match event.as_ref() {
            ExecutionEvent::Header(header) => Some(header),
            _ => None,
        })
    }
}

pub async fn turns(engine: &Engine, subject: Subject, output: Output) -> anyhow::Result<Exit> {
    let records = match subject {
        Subject::Task(task) => engine.story(task).await,
        Subject::Execution(execution) => engine.execution_story(execution).await,
    };
    let journals = by_execution(records.map_err(explain)?);
    let mut screen = Screen::new();
    let mut told = 0;
    for journal in &journals {
        let turns = timeline(journal.events.iter().map(|(event, at)| (event.as_ref(), *at)));
        told += turns.len();
        if output.json {
            for turn in &turns {
                let mut object = json!(turn);
                if let Value::Object(fields) = &mut object {
                    fields.insert("type".to_owned(), "turn".into());
                    fields.insert("execution_id".to_owned(), json!(journal.execution));
                    // As everywhere else.
                    fields.insert("began_at".to_owned(), turn.began_at.to_rfc3339().into());
                    fields.insert("last_at".to_owned(), turn.last_at.to_rfc3339().into());
                }
                print_json(&object);
            }
            continue;
        }
        let facts = journal.header().map(|header| [header.agent_id.clone(), header.model.clone()]);
        let named = Line::new().add(Style::Bold, format!("execution {}", journal.execution.short()));
        screen.print(&named.gap().facts(Style::Dim, facts.into_iter().flatten()));
        turns.iter().flat_map(turn_lines).for_each(|line| screen.print_whole(&line));
    }
    if output.json {
        print_json(&json!({"type": "result", "executions": journals.len(), "turns": told}));
    }
    Ok(Exit::Completed)
}

/// In the order in which they began.
fn by_execution(records: Vec<JournalRecord>) -> Vec<Journal> {
    let mut journals: Vec<Journal> = Vec::new();
    for record in records {
        let JournalRecord::Execution { at, execution, event, .. } = record else { continue };
        match journals.iter_mut().find(|journal| journal.execution == execution) {
            Some(journal) => journal.events.push((event, at)),
            None => journals.push(Journal { execution, events: vec![(event, at)] }),
        }
    }
    journals
}
