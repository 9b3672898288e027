//! `windlass inbox`: what agents ask for, cards and questions. One at a time: the oldest whole, the others stacked below it.

use serde_json::{Value, json};
use windlass_domain::Wall;
use windlass_engine::{Asked, OpenQuestion};

use crate::arguments;
use crate::show::{Line, Sheet, card, card_in_short, question, question_in_short};
use crate::wiring::Windlass;

/// Something that a person is asked.
enum Item {
    Card(Box<Asked>),
    Question(OpenQuestion),
}

pub async fn inbox(windlass: &Windlass, arguments: &arguments::Inbox) -> anyhow::Result<Sheet> {
    let mut sheet = Sheet::new();
    let now = windlass.runtime.wall();
    let cards = windlass.engine.cards().await?;
    let questions = windlass.engine.questions().await?;
    let result = json!({"type": "result", "cards": cards.len(), "questions": questions.len()});
    let cards = cards.into_iter().map(|asked| Item::Card(Box::new(asked)));
    let mut items: Vec<Item> = cards.chain(questions.into_iter().map(Item::Question)).collect();
    items.sort_by_key(Item::at);
    if arguments.output.json {
        items.iter().for_each(|item| sheet.object(&item.as_json()));
        sheet.object(&result);
        return Ok(sheet);
    }
    let Some((first, stacked)) = items.split_first() else {
        sheet.print(&Line::new().plain("Nobody asks you for anything."));
        return Ok(sheet);
    };
    first.whole(now).iter().for_each(|line| sheet.print_whole(line));
    sheet.print(&Line::new());
    sheet.print_whole(&Line::new().dim(first.how_to_answer()));
    if !stacked.is_empty() {
        sheet.print(&Line::new());
        sheet.print(&Line::new().dim(format!("and after it, {}:", stacked.len())));
    }
    stacked.iter().for_each(|item| sheet.print(&item.in_short(now)));
    Ok(sheet)
}

impl Item {
    const fn at(&self) -> Wall {
        match self {
            Self::Card(asked) => asked.at,
            Self::Question(open) => open.at,
        }
    }

    fn whole(&self, now: Wall) -> Vec<Line> {
        match self {
            Self::Card(asked) => card(asked, now),
            Self::Question(open) => question(open, now),
        }
    }

    fn in_short(&self, now: Wall) -> Line {
        match self {
            Self::Card(asked) => card_in_short(asked, now),
            Self::Question(open) => question_in_short(open),
        }
    }

    fn how_to_answer(&self) -> String {
        match self {
            Self::Card(asked) => {
                let short = asked.card.card_id.short();
                format!(
                    "to answer: windlass approve {short} · windlass deny {short} · windlass edit {short} --note \"…\""
                )
            }
            Self::Question(open) => format!("to answer: windlass send {} \"…\"", open.asked.task_id.short()),
        }
    }

    /// As it is kept.
    fn as_json(&self) -> Value {
        match self {
            Self::Card(asked) => {
                let Asked { card, task, at } = asked.as_ref();
                let mut fields = json!(card);
                fields["type"] = json!("card");
                fields["task_id"] = json!(task);
                fields["asked_at"] = json!(at.to_rfc3339());
                fields["expires_at"] = json!(card.expires_at.to_rfc3339());
                fields
            }
            Self::Question(OpenQuestion { asked, at }) => {
                let mut fields = json!(asked.asked);
                fields["type"] = json!("question");
                fields["request_id"] = json!(asked.request_id);
                fields["task_id"] = json!(asked.task_id);
                fields["asked_at"] = json!(at.to_rfc3339());
                fields
            }
        }
    }
}
