//! Where the data directory has them: a recording and, while it runs, a socket for each execution on a screen.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_adapters::Screens;
use windlass_domain::ExecutionId;
use windlass_policy::Redactor;
use windlass_terminal::{Decoder, Scrub, Size, Sockets, Terminals};

use super::raw::{beside_ours, room};

/// Where nobody sits.
const UNWATCHED: Size = Size { cols: 120, rows: 40 };

pub fn screens(data_dir: &Path, redactor: &Redactor) -> Screens {
    let redactor = redactor.clone();
    Screens {
        terminals: Terminals::default(),
        recordings: recordings(data_dir),
        sockets: Sockets::new(data_dir.join("terminals")),
        scrub: Arc::new(move || Box::new(Redacting::new(&redactor))),
        size: room().map_or(UNWATCHED, beside_ours),
    }
}

fn recordings(data_dir: &Path) -> PathBuf {
    data_dir.join("recordings")
}

/// Nothing where it was never on a screen.
pub fn recording(screens: &Screens, execution: ExecutionId) -> Option<PathBuf> {
    Some(screens.recordings.join(format!("{execution}.cast"))).filter(|path| path.is_file())
}

/// A recording passes the redactor as everything does that is kept.
struct Redacting {
    stream: Option<windlass_policy::Stream>,
    decoder: Decoder,
}

impl Redacting {
    fn new(redactor: &Redactor) -> Self {
        Self { stream: Some(redactor.stream()), decoder: Decoder::default() }
    }
}

impl Scrub for Redacting {
    fn feed(&mut self, text: &str) -> String {
        let mut out = Vec::new();
        if let Some(stream) = &mut self.stream {
            stream.push(text.as_bytes(), &mut out);
        }
        self.decoder.feed(&out)
    }

    fn finish(&mut self) -> String {
        let mut out = Vec::new();
        if let Some(stream) = self.stream.take() {
            stream.finish(&mut out);
        }
        self.decoder.feed(&out) + &self.decoder.finish()
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::Secret;

    use super::*;

    #[test]
    fn a_secret_is_in_no_recording_however_it_is_cut() {
        let redactor = Redactor::new([&Secret::new("geheim-und-länger".to_owned())]);
        let printed = "before geheim-und-länger after ä";
        for at in (1..printed.len()).filter(|at| printed.is_char_boundary(*at)) {
            let mut scrub = Redacting::new(&redactor);
            let kept = scrub.feed(&printed[..at]) + &scrub.feed(&printed[at..]) + &scrub.finish();
            assert_eq!(kept, "before [REDACTED] after ä", "cut at {at}");
        }
    }
}
