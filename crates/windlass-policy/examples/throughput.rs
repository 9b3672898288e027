//! How fast redaction is, on ordinary build output, on text full of near misses, and in small pieces. Run it with
//! `cargo run --release -p windlass-policy --example throughput`; the figures depend on the machine.
#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
#![expect(clippy::print_stdout, reason = "an example tells its user what it found")]

use std::time::Instant;

use windlass_domain::Secret;
use windlass_policy::{Redactor, visible};

const BYTES: usize = 64 << 20;

fn main() {
    let secrets: Vec<Secret> = (0..8).map(|n| Secret::new(format!("{n}-correct-horse-battery-staple"))).collect();
    let redactor = Redactor::new(&secrets);
    let clean =
        "   Compiling serde_json v1.0.154\ntest parser::reads_every_form ... ok\n    let value = map.get(&key)?;\n";
    let noisy = "see https://docs.rs/crate, a task-list of 3, {\"id\": \"550e8400-e29b-41d4\"} and \\n escapes\n";
    for (name, unit) in [("clean text", clean), ("near misses", noisy)] {
        let text = unit.repeat(BYTES / unit.len());
        report(name, "at once", text.len(), || redactor.redact(&text).len());
        report(name, "in pieces of 64 KiB", text.len(), || in_pieces(&redactor, &text, 64 << 10));
        report(name, "in pieces of 100 bytes", text.len(), || in_pieces(&redactor, &text, 100));
        report(name, "made visible", text.len(), || visible(&text).len());
    }
}

fn in_pieces(redactor: &Redactor, text: &str, size: usize) -> usize {
    let mut stream = redactor.stream();
    let (mut out, mut written) = (Vec::new(), 0);
    for piece in text.as_bytes().chunks(size) {
        stream.push(piece, &mut out);
        written += out.len();
        out.clear();
    }
    stream.finish(&mut out);
    written + out.len()
}

fn report(name: &str, how: &str, bytes: usize, work: impl Fn() -> usize) {
    let begun = Instant::now();
    let written = work();
    let seconds = begun.elapsed().as_secs_f64();
    println!("{name:12} {how:24} {:7.0} MB/s ({written} bytes)", bytes as f64 / seconds / 1e6);
}
