//! `read`: pages that together are the file, and plain words about what is no text.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use insta::assert_snapshot;
use serde_json::json;
use windlass_domain::{CallStatus, CancelSignal, Effect, ToolCall};
use windlass_tools::Picture;

use crate::support::{Bench, execution, permit};

#[test]
fn a_short_file_is_shown_whole_with_line_numbers() {
    let bench = Bench::new();
    bench.put("a.txt", "one\ntwo\r\n\nfour");
    assert_eq!(
        bench.ok("read", &json!({ "path": "/workspace/a.txt" })),
        "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n"
    );
    bench.put("empty", "");
    assert_eq!(bench.ok("read", &json!({ "path": "empty" })), "[empty is empty]");
}

/// No thread has to be woken for it.
#[test]
fn a_short_file_is_read_on_the_first_poll() {
    let bench = Bench::new();
    bench.put("a", "one\n");
    let call = ToolCall::new("call_1", "read", r#"{"path": "a"}"#);
    let mut context = Context::from_waker(Waker::noop());
    let prepared = pin!(bench.tools.prepare(&call)).poll(&mut context);
    assert!(matches!(prepared, Poll::Ready(Ok(prepared)) if prepared.effect == Effect::Read));
    let mut watch = |_: &str| {};
    let reading = bench.tools.run(execution(), permit(call, Effect::Read), CancelSignal::never(), &mut watch);
    assert!(matches!(pin!(reading).poll(&mut context), Poll::Ready(ran) if ran.content == "     1\tone\n"));
}

#[test]
fn a_long_file_is_read_as_a_short_one_is() {
    let bench = Bench::new();
    bench.put("a", "a line\n".repeat(100_000));
    let page = bench.ok("read", &json!({ "path": "a", "offset": 99_999 }));
    assert_eq!(page, " 99999\ta line\n100000\ta line\n[lines 99999 to 100000 of 100000; this is the end]");
}

#[test]
fn pages_say_where_they_are_and_how_to_go_on() {
    let bench = Bench::new();
    bench.put("a", (1..=10).map(|n| format!("line {n}\n")).collect::<String>());
    assert_snapshot!(bench.ok("read", &json!({ "path": "a", "limit": 2 })), @r"
         1	line 1
         2	line 2
    [lines 1 to 2 of 10; 8 more, continue with offset 3]
    ");
    assert_snapshot!(bench.ok("read", &json!({ "path": "a", "offset": 9 })), @r"
         9	line 9
        10	line 10
    [lines 9 to 10 of 10; this is the end]
    ");
    assert_snapshot!(bench.error("read", &json!({ "path": "a", "offset": 11 })), @"Error: a: has 10 lines; offset 11 is beyond its end");
}

#[test]
fn following_the_pages_reads_every_line_once_and_never_overruns_the_window() {
    let bench = Bench::with_output_tokens(500);
    let lines: Vec<String> = (0..400).map(|n| format!("{n}:{}", "x".repeat(n % 300))).collect();
    bench.put("a", lines.join("\n"));
    let (mut offset, mut seen) = (1, Vec::new());
    loop {
        let ran = bench.call("read", &json!({ "path": "a", "offset": offset }));
        assert!(ran.content.len() <= 2_000 && ran.full_output.is_none());
        seen.extend(ran.content.lines().filter_map(|line| line.split_once('\t')).map(|(_, line)| line.to_owned()));
        match ran.content.rsplit_once("continue with offset ") {
            Some((_, next)) => offset = next.trim_end_matches(']').parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(seen, lines);
}

#[test]
fn a_line_longer_than_the_window_is_cut_and_said() {
    let bench = Bench::with_output_tokens(100);
    bench.put("a", format!("{}\nend\n", "é".repeat(5_000)));
    let page = bench.ok("read", &json!({ "path": "a", "limit": 1 }));
    assert!(page.contains("OUTPUT TRUNCATED"), "the window is smaller than one line: {page}");
    let bench = Bench::new();
    bench.put("a", format!("{}\nend\n", "é".repeat(5_000)));
    let page = bench.ok("read", &json!({ "path": "a" }));
    assert!(page.contains("… [line cut; it has 5000 characters]\n     2\tend\n"), "{page}");
}

#[test]
fn an_image_is_shown_and_one_that_is_cut_off_is_not() {
    let bench = Bench::new();
    let gif = b"GIF89a\x03\0\x05\0;";
    // Its name does not matter.
    bench.put("photo.txt", gif);
    bench.put("cut.gif", &gif[..8]);
    let shown = bench.call("read", &json!({ "path": "photo.txt" }));
    assert_eq!((shown.status, shown.content.as_str()), (CallStatus::Ok, "photo.txt is an image."));
    assert_eq!(shown.pictures, [Picture { name: "photo.txt".into(), bytes: gif.to_vec() }]);
    let cut = bench.call("read", &json!({ "path": "cut.gif" }));
    assert_eq!((cut.status, cut.pictures.len()), (CallStatus::Error, 0));
    assert!(cut.content.contains("is a GIF image of 8 bytes, not text"), "{}", cut.content);
}

#[test]
fn encodings_and_binary_files_are_said() {
    let bench = Bench::new();
    bench.put("latin", b"Gr\xfc\xdfe aus M\xfcnchen\n");
    bench.put("wide", b"\xff\xfeh\0i\0");
    bench.put("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    bench.put("data", [0_u8, 1, 2, 3, 255]);
    assert_snapshot!(bench.ok("read", &json!({ "path": "latin" })), @r"
    [decoded from windows-1252]
         1	Grüße aus München
    ");
    assert_snapshot!(bench.ok("read", &json!({ "path": "wide" })), @r"
    [decoded from UTF-16LE]
         1	hi
    ");
    assert_snapshot!(bench.error("read", &json!({ "path": "image.png" })), @"Error: image.png: is a PNG image of 16 bytes, not text. Use bash to inspect it");
    assert_snapshot!(bench.error("read", &json!({ "path": "data" })), @"Error: data: is binary data of 5 bytes, not text. Use bash to inspect it");
}

#[test]
fn a_folder_is_answered_with_its_names() {
    let bench = Bench::new();
    bench.put("src/lib.rs", "");
    bench.put("src/deep/a", "");
    std::os::unix::fs::symlink("lib.rs", bench.path("src/link")).unwrap();
    std::fs::write(bench.path("src").join("odd\nname"), "").unwrap();
    assert_snapshot!(bench.ok("read", &json!({ "path": "src" })), @r"
    src is a folder with 4 entries:
    deep/
    lib.rs
    link@
    odd\nname
    ");
}

#[test]
fn what_cannot_be_read_is_said_in_the_agents_paths() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("../secret", bench.path("link")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, bench.path("pipe"), rustix::fs::Mode::from_raw_mode(0o644)).unwrap();
    std::fs::File::create(bench.path("huge")).unwrap().set_len(1 << 40).unwrap();
    let told = |path: &str| bench.error("read", &json!({ "path": path }));
    assert_snapshot!(told("missing"), @"Error: missing: no such file or folder");
    assert_snapshot!(told("link"), @"Error: link: leads outside the workspace; use a path below /workspace");
    assert_snapshot!(told("../secret"), @"Error: ../secret: leads outside the workspace; use a path below /workspace");
    assert_snapshot!(told("/etc/passwd"), @"Error: /etc/passwd: leads outside the workspace; use a path below /workspace");
    assert_snapshot!(told("pipe"), @"Error: pipe: is a pipe, socket or device; only regular files can be used");
    assert_snapshot!(told("huge"), @"Error: huge: 1099511627776 bytes, more than the 67108864 that can be handled at once. Search it with grep, or cut a part out with bash (sed -n, head, tail)");
}
