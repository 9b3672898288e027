//! Recordings: what was written is read again, whatever became of whoever wrote it.

use std::io::{BufReader, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass_terminal::{Ending, Happened, Moment, Options, Recorder, Recording, Scrub, Size, Unreadable};

use crate::stage::{SMALL, play, stage, until};

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("nobody panics").clone()).expect("text")
    }

    fn recorder(&self) -> Recorder {
        Recorder::begin(Box::new(self.clone()), SMALL, 1_700_000_000, "a run").expect("a page takes everything")
    }
}

fn read(text: &str) -> Result<Vec<Moment>, Unreadable> {
    Recording::open(BufReader::new(text.as_bytes()))?.collect()
}

#[test]
fn it_is_an_asciicast() {
    let page = Page::default();
    let mut recorder = page.recorder();
    let moments = [
        Moment { at: Duration::from_micros(1_250_000), happened: Happened::Printed("\x1b[31mé\r\n".to_owned()) },
        Moment { at: Duration::from_secs(3), happened: Happened::Resized(Size { cols: 100, rows: 30 }) },
    ];
    moments.iter().for_each(|moment| recorder.add(moment.at, &moment.happened).unwrap());
    let lines = [
        r#"{"version":2,"width":20,"height":4,"timestamp":1700000000,"title":"a run"}"#,
        r#"[1.25,"o","\u001b[31mé\r\n"]"#,
        r#"[3.0,"r","100x30"]"#,
    ];
    assert_eq!(page.text().lines().collect::<Vec<_>>(), lines);
    assert_eq!(read(&page.text()).unwrap(), moments);
    let text = page.text();
    let recording = Recording::open(text.as_bytes()).unwrap();
    assert_eq!((recording.size, recording.title.as_deref()), (SMALL, Some("a run")));
}

#[test]
fn one_that_was_cut_short_is_read_up_to_there() {
    let page = Page::default();
    let mut recorder = page.recorder();
    (0..3).for_each(|at| recorder.add(Duration::from_secs(at), &Happened::Printed("some".to_owned())).unwrap());
    let text = page.text();
    let header = text.find('\n').unwrap() + 1;
    for end in header..=text.len() {
        let whole = text[header..end].matches(']').count();
        assert_eq!(read(&text[..end]).unwrap().len(), whole, "cut at {end}");
    }
}

#[test]
fn what_is_none_is_refused_with_its_line() {
    assert!(matches!(read(""), Err(Unreadable::Empty)));
    assert!(matches!(read("hello\n"), Err(Unreadable::NoHeader(_))));
    assert!(matches!(read("{\"version\":3,\"width\":1,\"height\":1}\n"), Err(Unreadable::Version(3))));
    let header = "{\"version\":2,\"width\":80,\"height\":24}\n";
    let broken = format!("{header}[1.0,\"o\",\"a\"]\nnonsense\n[2.0,\"o\",\"b\"]\n");
    assert_eq!(read(&broken).unwrap_err().to_string(), "line 3 is no event of an asciicast");
    let early = format!("{header}[-1.0,\"o\",\"a\"]\n[2.0,\"o\",\"b\"]\n");
    assert!(matches!(read(&early), Err(Unreadable::NoEvent(2))));
    let unknown = format!("{header}[1.0,\"m\",\"a mark\"]\n");
    assert_eq!(read(&unknown).unwrap()[0].happened, Happened::Other);
    let typed = format!("{header}[1.0,\"i\",\"y\"]\n");
    assert_eq!(read(&typed).unwrap()[0].happened, Happened::Other);
    let long = format!("{header}[1.0,\"o\",\"{}\"]\n", "a".repeat(2 << 20));
    assert!(matches!(read(&long), Err(Unreadable::TooLong(2))));
}

/// Takes out one word, and holds back what may be its beginning.
#[derive(Default)]
struct NoSecret(String);

impl Scrub for NoSecret {
    fn feed(&mut self, text: &str) -> String {
        self.0.push_str(text);
        let clear = self.0.replace("secret", "[…]");
        let held = (1.."secret".len()).rev().find(|length| clear.ends_with(&"secret"[..*length])).unwrap_or(0);
        let (out, held) = clear.split_at(clear.len() - held);
        self.0 = held.to_owned();
        out.to_owned()
    }

    fn finish(&mut self) -> String {
        std::mem::take(&mut self.0)
    }
}

#[test]
fn what_must_not_be_kept_is_not_kept_however_it_is_printed() {
    play(async {
        let page = Page::default();
        let (recorder, scrub) = (Some(page.recorder()), Box::<NoSecret>::default());
        let mut stage = stage(|options| Options { recorder, scrub: Some(scrub), ..options });
        for piece in ["it is sec", "ret, sec"] {
            stage.print(piece).await;
            until(&stage.terminal, |lines| lines.concat().ends_with(piece)).await;
        }
        stage.terminal.input(b"secret").await.unwrap();
        assert_eq!(stage.hear(6).await, "secret");
        // Nobody waits for the last of it to be seen.
        stage.print("ond").await;
        stage.exit(Ending::Exited(0)).await;
        let printed = read(&page.text()).unwrap().into_iter().map(|moment| match moment.happened {
            Happened::Printed(text) => text,
            other => panic!("{other:?}"),
        });
        assert_eq!(printed.collect::<String>(), "it is […], second");
    });
}

#[test]
fn it_holds_what_was_printed_and_never_what_was_typed() {
    play(async {
        let page = Page::default();
        let recorder = Some(page.recorder());
        let mut stage = stage(|options| Options { recorder, ..options });
        stage.print("Password: ").await;
        stage.terminal.input(b"plover").await.unwrap();
        assert_eq!(stage.hear(6).await, "plover");
        stage.exit(Ending::Exited(0)).await;
        assert!(page.text().contains("Password: ") && !page.text().contains("plover"), "{}", page.text());
    });
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_work() {
    play(async {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0 = self.0.checked_sub(1).ok_or(std::io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let recorder = Recorder::begin(Box::new(Full(1)), SMALL, 0, "").unwrap();
        let mut stage = stage(|options| Options { recorder: Some(recorder), ..options });
        stage.print("one\r\n").await;
        stage.print("two").await;
        until(&stage.terminal, |lines| lines[1] == "two").await;
        assert!(stage.terminal.trouble().is_some());
    });
}

#[test]
fn a_recording_goes_on_where_it_ended_and_half_a_line_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.cast");
    let size = Size { cols: 20, rows: 4 };
    let (mut recorder, at) = Recorder::continue_in(&path, size, 1, "first").unwrap();
    assert_eq!(at, Duration::ZERO);
    recorder.add(Duration::from_secs(3), &Happened::Printed("before".to_owned())).unwrap();
    drop(recorder);
    let mut whole = std::fs::read(&path).unwrap();
    whole.extend_from_slice(b"[9.0,\"o\",\"half");
    std::fs::write(&path, &whole).unwrap();
    let (mut recorder, at) = Recorder::continue_in(&path, Size { cols: 30, rows: 5 }, 2, "second").unwrap();
    assert_eq!(at, Duration::from_secs(3));
    recorder.add(at + Duration::from_secs(1), &Happened::Printed("after".to_owned())).unwrap();
    drop(recorder);
    let recording = Recording::open(std::io::BufReader::new(std::fs::File::open(&path).unwrap())).unwrap();
    assert_eq!(recording.title.as_deref(), Some("first"));
    let mut screen = windlass_terminal::Screen::new(recording.size);
    let mut times = Vec::new();
    for moment in recording.map(Result::unwrap) {
        times.push(moment.at.as_secs());
        match moment.happened {
            Happened::Printed(text) => drop(screen.feed(&text)),
            Happened::Resized(size) => screen.resize(size),
            Happened::Other => {}
        }
    }
    assert_eq!(times, [3, 3, 3, 4]);
    assert_eq!((screen.size().cols, screen.text()[0].as_str()), (30, "after"));
}
