//! What the pages show, read from the journals: the same on this machine's data directory and for somebody who asks a server.

use serde_json::Value;
use windlass_domain::approval::RiskLevel;
use windlass_domain::session::Said;
use windlass_domain::task::TaskState;
use windlass_domain::{Seq, SessionId, TaskId, Wall, millis};
use windlass_engine::{Asked, Engine, Error, FeedEvent, OpenQuestion, Stands};

use super::sentence::{Sentence, sentence};
use super::sight::{About, Desk, Earlier, Happening, Item, Known, Look, News, Stakes, Talk, Told, Waiting};
use crate::show::{
    Line, Style, card, card_in_short, consequences, duration, headline, question, question_in_short, quoted, verbatim,
};
use crate::stands::InWords as _;
use crate::wiring::Windlass;

/// Tasks that are looked through for those that are not over.
const MOST_TASKS: usize = 60;
const MOST_WAITING: usize = 200;
const MOST_SAID: usize = 100;
const MOST_SESSIONS: usize = 50;
/// Tasks of a conversation, and what is told of each that is at work.
const MOST_WORK: usize = 6;
const MOST_STEPS: usize = 4;
/// Records that are read at once: positions are those of all tenants, so that there may be fewer.
const WINDOW: u64 = 400;
const WIDEST: u64 = 25_600;
/// Of a record.
const MOST_LINES: usize = 4_000;

pub async fn look(windlass: &Windlass, look: Look) -> anyhow::Result<Told> {
    Ok(match look {
        Look::Desk => Told::Desk(desk(windlass).await?),
        Look::Item(id) => Told::Item(item(windlass, &id).await?),
        Look::Talk(session) => Told::Talk(talk(windlass, session).await?),
        Look::Since(position) => Told::Since(since(windlass, position).await?),
        Look::Before(position) => Told::Before(before(windlass, position).await?),
        Look::Record(position) => Told::Record(record(windlass, position).await?),
    })
}

async fn desk(windlass: &Windlass) -> anyhow::Result<Desk> {
    let now = windlass.runtime.wall();
    let mut waiting: Vec<(Wall, Waiting)> = Vec::new();
    waiting.extend(windlass.engine.cards().await?.iter().map(|asked| (asked.at, waiting_card(asked, now))));
    waiting.extend(windlass.engine.questions().await?.iter().map(|open| (open.at, waiting_question(open))));
    waiting.sort_by_key(|(at, _)| *at);
    waiting.truncate(MOST_WAITING);
    let mut desk = Desk { waiting: waiting.into_iter().map(|(_, waiting)| waiting).collect(), ..Desk::default() };
    for (task, state) in lately(&windlass.engine).await? {
        if state.is_over() || state.is_turn() {
            continue;
        }
        let stands = windlass.engine.how_it_stands(task, &state).await?;
        desk.running += usize::from(stands == Stands::Running);
        desk.open.push(task_line(task, stands, &goal_of(&state)));
    }
    Ok(desk)
}

/// The tasks that there are or that somebody works for, newest first. All of them would be looked through each time that something happens.
async fn lately(engine: &Engine) -> Result<Vec<(TaskId, TaskState)>, Error> {
    let mut wholes: Vec<(TaskId, TaskState)> = Vec::new();
    for id in engine.task_ids(MOST_TASKS).await? {
        let state = engine.task(id).await?;
        let root = state.created.as_ref().and_then(|created| created.part_of.as_ref()).map(|of| of.root);
        if wholes.iter().any(|(known, _)| *known == root.unwrap_or(id)) {
            continue;
        }
        wholes.push(match root {
            Some(root) => (root, engine.task(root).await?),
            None => (id, state),
        });
    }
    Ok(wholes)
}

fn goal_of(state: &TaskState) -> String {
    state.created.as_ref().map(|created| headline(&created.command.goal)).unwrap_or_default()
}

fn waiting_card(asked: &Asked, now: Wall) -> Waiting {
    let stakes = match asked.card.risk_level {
        RiskLevel::Low | RiskLevel::Medium => Stakes::Ordinary,
        RiskLevel::High => Stakes::High,
        RiskLevel::Irreversible => Stakes::Irreversible,
    };
    Waiting {
        id: asked.card.card_id.to_string(),
        in_short: card_in_short(asked, now),
        about: About::Card(stakes),
        is_yes_or_no: is_yes_or_no(&asked.card.details),
    }
}

/// Where a plan failed, and where an item has no attempts left, declining is all that there is beside a yes.
fn is_yes_or_no(details: &Value) -> bool {
    details["kind"] == "review" || (details["kind"] == "help" && details["about"] != "next_attempt")
}

fn waiting_question(open: &OpenQuestion) -> Waiting {
    let asked = &open.asked;
    let about = About::Question { task: asked.task_id, options: asked.asked.options.clone() };
    Waiting { id: asked.request_id.to_string(), in_short: question_in_short(open), about, is_yes_or_no: false }
}

async fn item(windlass: &Windlass, id: &str) -> anyhow::Result<Option<Item>> {
    let now = windlass.runtime.wall();
    let card_meant = windlass.engine.cards().await?.into_iter().find(|asked| asked.card.card_id.to_string() == id);
    if let Some(asked) = card_meant {
        let consequences = consequences(&asked.card);
        return Ok(Some(Item { id: id.to_owned(), lines: card(&asked, now), consequences }));
    }
    let open = windlass.engine.questions().await?.into_iter().find(|open| open.asked.request_id.to_string() == id);
    Ok(open.map(|open| Item { id: id.to_owned(), lines: question(&open, now), consequences: 0 }))
}

async fn talk(windlass: &Windlass, session: Option<SessionId>) -> anyhow::Result<Talk> {
    let engine = &windlass.engine;
    let mut known = Vec::new();
    for session in engine.session_ids(None, MOST_SESSIONS).await? {
        let folder = engine.session(session).await?.workspace.unwrap_or_default();
        let line = Line::new().plain(folder).point(Style::Dim).dim(format!("conversation {}", session.short()));
        known.push(Known { session, line });
    }
    let Some(session) = session.or_else(|| known.first().map(|known| known.session)) else {
        return Ok(Talk::default());
    };
    let state = engine.session(session).await?;
    let mut work = Vec::new();
    for task in state.tasks.iter().rev().take(MOST_WORK) {
        work.extend(work_of(windlass, *task).await?);
    }
    let is_answering = state.turn.is_some() || !state.unheard.is_empty();
    let said = if state.workspace.is_some() { said(windlass, session).await? } else { Vec::new() };
    Ok(Talk { session: Some(session), folder: state.workspace, said, is_answering, work, known })
}

/// The last of what was said.
async fn said(windlass: &Windlass, session: SessionId) -> Result<Vec<Line>, Error> {
    let (mut all, mut after) = (Vec::new(), Seq(0));
    loop {
        let (page, has_more) = windlass.engine.said_after(session, after, MOST_SAID).await?;
        after = page.last().map_or(after, |(seq, _)| *seq);
        all.extend(page.into_iter().map(|(_, said)| said));
        let over = all.len().saturating_sub(MOST_SAID);
        all.drain(..over);
        if !has_more {
            break;
        }
    }
    Ok(all.iter().flat_map(spoken).collect())
}

fn spoken(said: &Said) -> Vec<Line> {
    match said {
        Said::User(words) => {
            let mine = words.trim().lines().map(|line| Line::marked(Style::Accent, "› ").add(Style::Bold, line));
            mine.chain([Line::new()]).collect()
        }
        Said::Proxy(words) => quoted(words).chain([Line::new()]).collect(),
    }
}

fn task_line(task: TaskId, stands: Stands, goal: &str) -> Line {
    let style = match stands {
        Stands::Verified | Stands::Completed => Style::Good,
        Stands::Failed => Style::Bad,
        Stands::Running => Style::Accent,
        _ => Style::Warn,
    };
    let standing = Line::new().dim(format!("{}  ", task.short())).add(style, stands.for_people());
    standing.plain("  ").giving_way(Style::Plain, goal)
}

/// How it stands, and while it is not over what was done for it last.
async fn work_of(windlass: &Windlass, task: TaskId) -> anyhow::Result<Vec<Line>> {
    let engine = &windlass.engine;
    let state = match engine.task(task).await {
        // It is named before it begins.
        Err(Error::NoSuchTask(_)) => return Ok(Vec::new()),
        state => state?,
    };
    let stands = engine.how_it_stands(task, &state).await?;
    let mut lines = vec![task_line(task, stands, &goal_of(&state))];
    if state.is_over() {
        let words = state.result.iter().filter_map(|result| result.final_message.as_deref()).map(headline);
        lines.extend(words.filter(|words| !words.is_empty()).map(|words| Line::marked(Style::Dim, "    ").dim(words)));
        return Ok(lines);
    }
    lines.extend(last_steps(windlass, task).await?);
    Ok(lines)
}

/// What was done for it lately, oldest first.
async fn last_steps(windlass: &Windlass, task: TaskId) -> Result<Vec<Line>, Error> {
    let task = task.to_string();
    let last = windlass.engine.last_position().await?;
    let events = windlass.engine.events_after(last.saturating_sub(WINDOW), WINDOW as usize).await?;
    let mut steps: Vec<Line> = Vec::new();
    for event in events.iter().rev() {
        if !windlass.engine.belongs_to(&event.about, &event.id).await?.contains(&task) {
            continue;
        }
        let told = told_of(event);
        // That a model is asked or a tool has begun is what is going on, as long as nothing came after it.
        if !told.is_quiet || steps.is_empty() {
            steps.push(told.line().behind(Style::Dim, &format!("    {}  ", clock(event.at))));
        }
        if steps.len() == MOST_STEPS {
            break;
        }
    }
    steps.reverse();
    Ok(steps)
}

async fn since(windlass: &Windlass, position: u64) -> Result<News, Error> {
    let last = windlass.engine.last_position().await?;
    if last.saturating_sub(position) > WINDOW {
        return Ok(News { happened: Vec::new(), has_gap: true });
    }
    let events = windlass.engine.events_after(position, WINDOW as usize).await?;
    Ok(News { happened: events.iter().rev().map(happening).collect(), has_gap: false })
}

async fn before(windlass: &Windlass, position: Option<u64>) -> Result<Earlier, Error> {
    let mut end = match position {
        Some(position) => position,
        None => windlass.engine.last_position().await? + 1,
    };
    let mut width = WINDOW;
    loop {
        let from = end.saturating_sub(width + 1);
        let events = windlass.engine.events_after(from, width as usize).await?;
        let found: Vec<Happening> = events.iter().rev().filter(|event| event.position < end).map(happening).collect();
        // Where others have written all of it there is nothing to show, and it goes on before that, in longer strides.
        if !found.is_empty() || from == 0 {
            return Ok(Earlier { happened: found, more_before: (from > 0).then_some(from + 1) });
        }
        (end, width) = (from + 1, (width * 4).min(WIDEST));
    }
}

fn told_of(event: &FeedEvent) -> Sentence {
    let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
    sentence(&event.about, &event.kind, &data)
}

fn happening(event: &FeedEvent) -> Happening {
    let told = told_of(event);
    let line = told.line();
    let words = format!("{} {} {}/{}", line.text(), event.kind, event.about, event.id).to_lowercase();
    let line = line.behind(Style::Dim, &format!("{}  ", clock(event.at)));
    let day = event.at.to_rfc3339()[..10].to_owned();
    Happening { position: event.position, day, line, words, is_quiet: told.is_quiet }
}

fn clock(at: Wall) -> String {
    at.to_rfc3339()[11..19].to_owned()
}

async fn record(windlass: &Windlass, position: u64) -> anyhow::Result<Vec<Line>> {
    let found = windlass.engine.events_after(position.saturating_sub(1), 1).await?;
    let Some(event) = found.into_iter().find(|event| event.position == position) else {
        return Ok(vec![Line::new().plain("It is not there any more.")]);
    };
    let ago = duration(millis(windlass.runtime.wall().since(event.at)));
    let told = told_of(&event);
    let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
    let written = serde_json::to_string_pretty(&data).unwrap_or_default();
    let facts = [event.kind.clone(), format!("{}/{}", event.about, event.id)];
    let when = [event.at.to_rfc3339(), format!("{ago} ago"), format!("position {}", event.position)];
    let mut lines = vec![told.line(), Line::new().facts(Style::Dim, facts), Line::new().facts(Style::Dim, when)];
    lines.push(Line::new());
    let all = written.lines().count();
    lines.extend(verbatim(&written).take(MOST_LINES));
    if all > MOST_LINES {
        lines.push(Line::new().dim(format!("and {} lines more: windlass log --json has all of it", all - MOST_LINES)));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_yes_or_no;

    #[test]
    fn only_where_nobody_hears_what_should_be_done_instead() {
        for details in [json!({"kind": "review"}), json!({"kind": "help", "about": "one_more"})] {
            assert!(is_yes_or_no(&details), "{details}");
        }
        for details in
            [json!({"kind": "help", "about": "next_attempt"}), json!({"kind": "plan"}), json!({"tool": "bash"})]
        {
            assert!(!is_yes_or_no(&details), "{details}");
        }
    }
}
