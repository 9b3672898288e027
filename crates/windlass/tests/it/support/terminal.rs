//! The program at a terminal: `script` gives it one of 80 columns, without echo or colours.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use windlass_terminal::{Decoder, Screen, Size};

use super::home::Home;

pub struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    decoder: Decoder,
    /// All that was shown.
    shown: String,
    /// How much of it has been waited for.
    seen: usize,
}

impl Terminal {
    /// Whatever is typed before the first line that is typed is there before the program is.
    pub fn start(home: &Home, words: &str) -> Self {
        Self::start_with(home, "", words)
    }

    /// With variables, as a shell sets them for one command.
    pub fn start_with(home: &Home, variables: &str, words: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_windlass");
        let command = format!("stty -echo cols 80; read -r go; {variables} exec {program} {words}");
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(home.workspace()).env_clear();
        script.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TERM", "dumb").env("SHELL", "/bin/sh");
        script.env("HOME", home.path()).env("WINDLASS_DATA_DIR", home.data()).env("USER", "you");
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("`script` is there");
        let (keys, screen) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { child, keys, screen, decoder: Decoder::default(), shown: String::new(), seen: 0 }
    }

    pub fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("it listens");
    }

    /// As whoever sits there pulls at its edges. `tty` is its name, as `tty` says it there.
    pub fn resize(tty: &str, size: Size) {
        let (rows, cols) = (size.rows.to_string(), size.cols.to_string());
        let told = Command::new("stty").args(["-F", tty, "rows", &rows, "cols", &cols]).status();
        assert!(told.expect("`stty` is there").success(), "{tty}");
    }

    /// Waits until this is shown, after what was waited for before.
    pub fn wait_for(&mut self, text: &str) {
        loop {
            if let Some(at) = self.shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            assert!(self.reads(), "it ended without `{text}`; it showed:\n{}", self.shown);
        }
    }

    /// Waits until this stands on a page of this size, as somebody sees it who sits there.
    pub fn wait_to_see(&mut self, size: Size, text: &str) -> String {
        loop {
            let mut screen = Screen::new(size);
            screen.feed(&self.shown);
            let page = screen.text().join("\n");
            if page.contains(text) {
                return page;
            }
            assert!(self.reads(), "it ended without `{text}`; it showed:\n{page}");
        }
    }

    /// More of what is shown, if there is more.
    fn reads(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let length = self.screen.read(&mut bytes).expect("the screen can be read");
        self.shown.push_str(&self.decoder.feed(&bytes[..length]));
        length > 0
    }

    /// Waits for its end: the exit code, and all that was shown.
    pub fn end(mut self) -> (Option<i32>, String) {
        let mut rest = Vec::new();
        self.screen.read_to_end(&mut rest).expect("the screen can be read");
        let status = self.child.wait().expect("waited for");
        (status.code(), std::mem::take(&mut self.shown) + &String::from_utf8_lossy(&rest))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _over = self.child.kill();
        let _over = self.child.wait();
    }
}
