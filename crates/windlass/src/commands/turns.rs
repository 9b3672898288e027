//! `windlass log --timeline [TASK]`: the turns of each of its executions, projected from their journals.

use serde_json::{Value, json};
use windlass_domain::execution::{ExecutionEvent, ForkedFrom, Header};
use windlass_domain::timeline::timeline;
use windlass_domain::{ExecutionId, Wall};
use windlass_engine::JournalRecord;

use crate::arguments::Output;
use crate::show::{Line, Sheet, Style, forked_line, turn_lines};

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

    fn forked(&self) -> Option<&ForkedFrom> {
        self.events.iter().find_map(|(event, _)| match event.as_ref() {
            ExecutionEvent::Forked(forked) => Some(&forked.from),
            _ => None,
        })
    }
}

pub fn turns(records: Vec<JournalRecord>, output: Output) -> Sheet {
    let journals = by_execution(records);
    let mut sheet = Sheet::new();
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
                    if let (1, Some(from)) = (turn.turn, journal.forked()) {
                        fields.insert("forked_from".to_owned(), json!(from));
                    }
                    // As everywhere else.
                    fields.insert("began_at".to_owned(), turn.began_at.to_rfc3339().into());
                    fields.insert("last_at".to_owned(), turn.last_at.to_rfc3339().into());
                }
                sheet.object(&object);
            }
            continue;
        }
        let facts = journal.header().map(|header| [header.agent_id.clone(), header.model.clone()]);
        let named = Line::new().add(Style::Bold, format!("execution {}", journal.execution.short()));
        sheet.print(&named.gap().facts(Style::Dim, facts.into_iter().flatten()));
        journal.forked().iter().for_each(|from| sheet.print(&forked_line(from)));
        turns.iter().flat_map(turn_lines).for_each(|line| sheet.print_whole(&line));
    }
    if output.json {
        sheet.object(&json!({"type": "result", "executions": journals.len(), "turns": told}));
    }
    sheet
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
