//! One look at a terminal: its screen as an emulator of ours has it after one painting.

use windlass_api::{Terminal, TerminalScreen, TerminalSize};
use windlass_domain::ExecutionId;
use windlass_terminal::{Screen, Seen, Sight, Size};

use super::attached::{attach, within};
use crate::problems::Refusal;
use crate::service::Service;

/// The terminals that are said to be open, whosever they are.
pub async fn names(service: &Service) -> Result<Vec<ExecutionId>, Refusal> {
    let sockets = service.terminals.sockets.clone();
    let names = service.runtime.blocking(move || sockets.names()).await;
    let names = names.map_err(|error| service.broken("the folder of the terminals", &error))?;
    Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
}

pub async fn look(service: &Service, execution: ExecutionId) -> Result<TerminalScreen, Refusal> {
    let attached = attach(service, execution).await?;
    let (name, screen) = match attached {
        None => (None, None),
        Some(mut attached) => (Some(attached.name), within(service, painted(&mut attached.seen)).await?),
    };
    let path = service.terminals.recording_of(execution);
    let is_recorded = service.runtime.blocking(move || path.is_file()).await;
    let terminal = Terminal {
        execution_id: execution.to_string(),
        name,
        size: screen.as_ref().map(|screen| told(screen.size())),
        alive: screen.is_some(),
        recording: is_recorded.then(|| format!("/v1/executions/{execution}/recording")),
    };
    Ok(TerminalScreen { terminal, screen: screen.map(|screen| screen.text()) })
}

/// None where it ended at that moment.
async fn painted(seen: &mut Seen) -> std::io::Result<Option<Screen>> {
    let mut screen = Screen::new(Size::USUAL);
    let mut paint = Vec::new();
    loop {
        match seen.next().await? {
            Some(Sight::Sized(size)) => screen = Screen::new(size),
            Some(Sight::Paint(bytes)) => paint.extend_from_slice(&bytes),
            Some(Sight::CaughtUp) => {
                screen.feed(&String::from_utf8_lossy(&paint));
                return Ok(Some(screen));
            }
            Some(Sight::Ended(_)) | None => return Ok(None),
        }
    }
}

pub const fn told(size: Size) -> TerminalSize {
    TerminalSize { cols: size.cols, rows: size.rows }
}
