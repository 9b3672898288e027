//! `windlass log [TASK]`: the story of a task, from its journals; all of it, or what is told on one surface; and with `--follow`
//! what comes, whichever process does it. `--timeline` is `turns`'.

use std::time::Duration;

use windlass_domain::Tenant;
use windlass_engine::JournalRecord;
use windlass_policy::surface::Surface;
use windlass_store::Topic;

use super::drive::explain;
use super::subject::{Subject, subject};
use super::turns::turns;
use crate::arguments::{self, SurfaceName};
use crate::config::Config;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::show::{Narrator, Screen, Style, json_record, json_result, output, print_json};
use crate::wiring::Windlass;

/// How often it is looked without a hint.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub async fn log(arguments: arguments::Log) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?).await?;
    let engine = &windlass.engine;
    // First, so that nothing comes between reading and waiting.
    let mut hints = windlass.store.notifier().subscribe(Topic::Events { tenant: Tenant::local() });
    let mut interrupts = arguments.follow.then(Interrupts::new).transpose()?;
    let subject = subject(engine, arguments.task.as_deref()).await?;
    if arguments.timeline {
        return Ok(turns(subject.story(engine).await?, arguments.output).show());
    }
    let mut following = subject.followed();
    let mut printer = Printer::new(&arguments);
    loop {
        let news = engine.news(&mut following).await.map_err(explain)?;
        news.iter().for_each(|record| printer.print(record));
        let Some(interrupts) = interrupts.as_mut() else { break };
        if news.iter().any(|record| subject.ends_with(record)) || output().is_closed() {
            break;
        }
        tokio::select! {
            () = hints.changed(LOOK_EVERY) => {}
            () = interrupts.next() => break,
        }
    }
    if let (true, Subject::Task(task)) = (arguments.output.json, subject)
        && let Some(result) = engine.task(task).await?.result
    {
        print_json(&json_result(&result));
    }
    Ok(Exit::Completed)
}

pub struct Printer {
    surface: Option<SurfaceName>,
    /// None: for a script.
    screen: Option<Screen>,
    narrator: Narrator,
}

impl Printer {
    pub fn new(arguments: &arguments::Log) -> Self {
        let screen = (!arguments.output.json).then(Screen::new);
        Self { surface: arguments.surface, screen, narrator: Narrator::default() }
    }

    pub fn print(&mut self, record: &JournalRecord) {
        let is_asked_for = is_asked_for(record, self.surface);
        let Some(screen) = &mut self.screen else {
            if is_asked_for {
                let entry = json_record(record);
                print_json(&if self.surface.is_some() { entry.on(record.surfaces()) } else { entry });
            }
            return;
        };
        // Told in any case: later records refer to it.
        let lines = self.narrator.tell(record);
        if !is_asked_for {
            return;
        }
        let time = record.at().to_rfc3339();
        let clock = &time[11..19];
        let before = match self.surface {
            Some(SurfaceName::All) => format!("{clock}  {:<16}  ", names(record.surfaces())),
            _ => format!("{clock}  "),
        };
        lines.into_iter().for_each(|line| screen.print_whole(&line.behind(Style::Dim, &before)));
    }
}

fn is_asked_for(record: &JournalRecord, surface: Option<SurfaceName>) -> bool {
    let wanted = match surface {
        None | Some(SurfaceName::All) => return true,
        Some(SurfaceName::Stream) => Surface::Stream,
        Some(SurfaceName::Review) => Surface::Review,
        Some(SurfaceName::Activity) => Surface::Activity,
    };
    record.surfaces().contains(&wanted)
}

fn names(surfaces: &[Surface]) -> String {
    let name = |surface: &Surface| match surface {
        Surface::Stream => "stream",
        Surface::Review => "review",
        Surface::Activity => "activity",
    };
    surfaces.iter().map(name).collect::<Vec<_>>().join(" ")
}
