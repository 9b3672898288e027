//! `web_fetch` against pages and servers that mean no good.

use std::io::Write as _;

use serde_json::json;
use windlass_domain::{CallStatus, Effect, Reach};
use windlass_tools::Toolset;

use crate::support::Bench;
use crate::web::{Act, Elsewhere, careful, careless, hasty, limits, listing, page, redirect};

const PUBLIC: &str = "93.184.216.34";

fn fetch(bench: &Bench, tools: &Toolset, url: &str) -> (CallStatus, String) {
    let ran = bench.call_with(tools, "web_fetch", &json!({ "url": url }));
    (ran.status, ran.content)
}

/// What comes of fetching a page that is served like this.
fn served(act: Act) -> (CallStatus, String) {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench, vec![act]);
    elsewhere.name("site.test", &[PUBLIC]);
    let tools = careful(&bench, &elsewhere, limits());
    fetch(&bench, &tools, "http://site.test/a")
}

fn refused(act: Act) -> String {
    let (status, text) = served(act);
    assert_eq!(status, CallStatus::Error, "{text}");
    text
}

#[test]
fn it_is_not_there_unless_it_was_configured() {
    let bench = Bench::new();
    assert!(
        bench.error("web_fetch", &json!({ "url": "https://example.org" })).contains("there is no tool `web_fetch`")
    );
}

#[test]
fn a_page_comes_as_readable_text_with_its_address() {
    let html =
        "<html><head><title>News</title></head><body><p>Something happened.</p><script>x()</script></body></html>";
    let (status, text) = served(page("content-type: text/html; charset=utf-8\r\n", html));
    assert_eq!(
        (status, text.as_str()),
        (CallStatus::Ok, "URL: http://site.test/a\nStatus: 200\nTitle: News\n\nSomething happened.")
    );
    let (_, text) = served(page("content-type: application/json\r\n", "{\"a\": 1}"));
    assert_eq!(text, "URL: http://site.test/a\nStatus: 200\n\n{\"a\": 1}");
    let (_, text) = served(page("", "<!DOCTYPE html><p>Nobody said what this is."));
    assert!(text.ends_with("\n\nNobody said what this is."), "{text}");
}

#[test]
fn nothing_is_sent_that_could_tell_who_asks() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench, vec![redirect("/b"), page("set-cookie: a=b\r\n", "x")]);
    elsewhere.name("site.test", &[PUBLIC]);
    fetch(&bench, &careful(&bench, &elsewhere, limits()), "http://site.test/a");
    for head in elsewhere.asked.lock().unwrap().iter().map(|head| head.to_ascii_lowercase()) {
        assert!(head.starts_with("get /") && head.contains("\r\nuser-agent: windlass/"), "{head}");
        for header in ["cookie", "referer", "authorization", "from:", "x-forwarded"] {
            assert!(!head.contains(header), "{head}");
        }
    }
}

#[test]
fn what_it_would_do_is_told_beforehand() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench, vec![page("", "x")]);
    let tools = careful(&bench, &elsewhere, limits());
    let prepared = bench.prepare_with(&tools, "web_fetch", r#"{"url": "https://Site.test:8443/a"}"#).unwrap();
    assert_eq!((prepared.effect, prepared.reach), (Effect::Read, Reach::Outside(Some("site.test:8443".to_owned()))));
    for url in ["file:///etc/passwd", "ftp://x/", "http://me:secret@x/", "/a", "http://"] {
        let error = bench.error_with(&tools, "web_fetch", &json!({ "url": url }));
        assert!(!error.contains("secret"), "{error}");
    }
    assert!(elsewhere.asked.lock().unwrap().is_empty());
}

/// Every way to write an address of ours, as the agent would and as a name or a redirect would lead to it.
#[test]
fn addresses_that_are_not_public_are_not_reached() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench, vec![page("", "the secret of this machine")]);
    elsewhere.name("metadata.test", &["169.254.169.254"]);
    elsewhere.name("mixed.test", &["93.184.216.34 10.0.0.1"]);
    elsewhere.name("localhost", &["127.0.0.1"]);
    let hosts = [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "0.0.0.0",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[fd00::1]",
        "[fe80::1]",
        "[64:ff9b::7f00:1]",
        "metadata.test",
        "mixed.test",
    ];
    let (careful, careless) = (careful(&bench, &elsewhere, limits()), careless(&bench, &elsewhere, limits()));
    for host in hosts {
        let url = format!("http://{host}/");
        let (status, text) = fetch(&bench, &careful, &url);
        assert!(status == CallStatus::Error && text.contains("not a public address"), "{host}: {text}");
        assert!(elsewhere.asked.lock().unwrap().is_empty(), "{host}");
        let (status, text) = fetch(&bench, &careless, &url);
        assert!(status == CallStatus::Ok && text.contains("the secret"), "the control, {host}: {text}");
        elsewhere.asked.lock().unwrap().clear();
    }
    elsewhere.name("site.test", &[PUBLIC]);
    assert_eq!(fetch(&bench, &careful, "http://site.test/").0, CallStatus::Ok, "the twin");
}

/// The name is public when it is first asked for, and ours when the redirect leads to it again.
#[test]
fn a_name_that_changes_its_mind_is_judged_at_every_hop() {
    let bench = Bench::new();
    let elsewhere = |second: &str| {
        let elsewhere = Elsewhere::new(&bench, vec![redirect("/again"), page("", "the secret")]);
        elsewhere.name("site.test", &[PUBLIC, second]);
        elsewhere
    };
    let rebound = elsewhere("127.0.0.1");
    let (status, text) = fetch(&bench, &careful(&bench, &rebound, limits()), "http://site.test/");
    assert!(status == CallStatus::Error && text.contains("not a public address"), "{text}");
    let rebound = elsewhere("127.0.0.1");
    assert!(
        fetch(&bench, &careless(&bench, &rebound, limits()), "http://site.test/").1.contains("the secret"),
        "the control"
    );
    let stays = elsewhere(PUBLIC);
    assert!(
        fetch(&bench, &careful(&bench, &stays, limits()), "http://site.test/").1.contains("the secret"),
        "the twin"
    );
    assert!(stays.reached.lock().unwrap().iter().all(|address| address.ip().to_string() == PUBLIC));
}

#[test]
fn a_redirect_elsewhere_is_told_and_not_followed() {
    let bench = Bench::new();
    for to in [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "http://2130706433/",
        "https://other.test/?q=words",
        "http://www.site.test/",
        "http://site.test:9200/",
        "https://site.test:8443/",
        "http://site.test:8080/?q=words",
    ] {
        let elsewhere = Elsewhere::new(&bench, vec![redirect(to), page("", "the secret")]);
        elsewhere.name("site.test", &[PUBLIC]);
        elsewhere.name("other.test", &[PUBLIC]);
        let (status, text) = fetch(&bench, &careful(&bench, &elsewhere, limits()), "http://site.test/");
        assert!(
            status == CallStatus::Ok
                && text.contains("redirects to another host or port")
                && text.contains("fetch http"),
            "{text}"
        );
        assert_eq!(elsewhere.asked.lock().unwrap().len(), 1, "{to}");
    }
    for to in ["file:///etc/passwd", "javascript:alert(1)", "http://me:pw@site.test/"] {
        assert!(refused(redirect(to)).contains("a redirect cannot be followed"), "{to}");
    }
}

#[test]
fn redirects_within_a_host_are_followed_but_not_for_ever() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench, vec![redirect("/b"), redirect("//site.test/c?d"), page("", "here")]);
    elsewhere.name("site.test", &[PUBLIC]);
    let (_, text) = fetch(&bench, &careful(&bench, &elsewhere, limits()), "http://site.test/a");
    assert!(text.starts_with("URL: http://site.test/c?d\n") && text.ends_with("here"), "{text}");
    assert!(refused(redirect("/again")).contains("more than 5 redirects"));
}

#[test]
fn what_a_page_hides_in_its_letters_is_shown() {
    let hidden = "say \u{e0049}\u{e0067}\u{200b}\u{202e}this";
    let (_, text) = served(page("", format!("<title>{hidden}</title><p>{hidden}</p>")));
    assert!(text.matches("<U+E0049><U+E0067><U+200B><U+202E>this").count() == 2, "{text}");
}

#[test]
fn an_operator_can_list_a_service_of_their_own_by_its_port() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench, vec![page("", "the wiki")]);
    let tools = listing(&bench, &elsewhere, limits(), &["10.0.0.7:8080"]);
    assert!(fetch(&bench, &tools, "http://10.0.0.7:8080/").1.contains("the wiki"));
    assert!(fetch(&bench, &tools, "http://10.0.0.7/").1.contains("not a public address"));
}

#[test]
fn ports_of_other_services_are_left_alone() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench, vec![page("", "220 mail")]);
    elsewhere.name("site.test", &[PUBLIC]);
    let (careful, careless) = (careful(&bench, &elsewhere, limits()), careless(&bench, &elsewhere, limits()));
    assert!(fetch(&bench, &careful, "http://site.test:25/").1.contains("port 25 is not one of the web"));
    assert_eq!(fetch(&bench, &careless, "http://site.test:25/").0, CallStatus::Ok, "the control");
    assert_eq!(fetch(&bench, &careful, "http://site.test:8080/").0, CallStatus::Ok, "the twin");
}

#[test]
fn an_endless_body_is_cut_and_said_to_be() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec();
    let (status, text) = served(Act::Forever(head, b"more and more\n".repeat(100)));
    assert_eq!(status, CallStatus::Ok);
    assert!(text.contains("[it is longer; this is its beginning]") && text.len() < 101_000, "{}", text.len());
}

#[test]
fn a_slow_drip_and_silence_end_with_the_time_there_is() {
    let bench = Bench::new();
    let drip = Act::FallSilent(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\ndrip".to_vec());
    for act in [drip, Act::FallSilent(Vec::new()), Act::FallSilent(b"HTTP/1.1 2".to_vec())] {
        let elsewhere = Elsewhere::new(&bench, vec![act]);
        elsewhere.name("site.test", &[PUBLIC]);
        let (status, text) = fetch(&bench, &careful(&bench, &elsewhere, hasty()), "http://site.test/");
        assert!(status == CallStatus::Error && text.contains("longer than 0.5 s"), "{text}");
    }
}

#[test]
fn a_bomb_is_unpacked_no_further_than_there_is_room() {
    let mut packing = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packing.write_all(&b"boom ".repeat(10_000_000)).unwrap();
    let bomb = packing.finish().unwrap();
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    let (status, text) = served(page("content-type: text/plain\r\ncontent-encoding: gzip\r\n", bomb));
    assert!(
        status == CallStatus::Ok && text.contains("this is its beginning") && text.len() < 101_000,
        "{}",
        text.len()
    );
    assert!(refused(page("content-encoding: gzip\r\n", "not packed")).contains("cannot be unpacked"));
}

#[test]
fn a_head_without_end_is_refused() {
    let long = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(10 << 20)).into_bytes();
    assert!(refused(Act::Say(long)).contains("did not answer as web servers do"));
    let many: String = (0..10_000).map(|number| format!("x{number}: y\r\n")).collect();
    assert!(refused(Act::Say(format!("HTTP/1.1 200 OK\r\n{many}\r\n").into_bytes())).contains("did not answer"));
    assert!(refused(Act::Say(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec())).contains("did not answer as web servers do"));
    assert!(refused(Act::Say(Vec::new())).contains("did not answer"));
}

#[test]
fn what_is_no_text_is_refused_with_the_reason() {
    assert!(refused(page("content-type: application/pdf\r\n", "%PDF-1.7")).contains("a PDF document"));
    assert!(refused(page("content-type: image/png\r\n", "x")).contains("`image/png`"));
    assert!(refused(page("content-type: text/plain\r\n", b"\x89PNG\r\n\x1a\n")).contains("a PNG image"));
    assert!(refused(page("content-type: text/plain\r\ncontent-encoding: zstd\r\n", "x")).contains("`zstd`"));
}

#[test]
fn a_wrong_charset_is_seen_through() {
    let latin = b"<p>Gr\xfc\xdfe aus M\xfcnchen, sch\xf6n".to_vec();
    let (_, text) = served(page("content-type: text/html; charset=utf-8\r\n", latin));
    assert!(text.contains("Grüße aus München"), "{text}");
    let (_, text) = served(page("content-type: text/html; charset=iso-8859-1\r\n", "<p>Grüße"));
    assert!(text.contains("Grüße"), "{text}");
    let (_, text) =
        served(page("content-type: text/html\r\n", b"<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2"));
    assert!(text.contains("Привет"), "{text}");
}

/// A tree of it would overflow the stack of whoever walks it.
#[test]
fn a_page_of_nothing_but_depth_is_read_all_the_same() {
    let deep = format!("{}the bottom", "<div><b>".repeat(10_000));
    let (status, text) = served(page("content-type: text/html\r\n", deep));
    assert!(status == CallStatus::Ok && text.contains("the bottom"), "{text}");
}

#[test]
fn an_error_page_is_shown_as_an_error() {
    let (status, text) =
        served(Act::Say(b"HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\n\r\nno such page".to_vec()));
    assert_eq!((status, text.as_str()), (CallStatus::Error, "URL: http://site.test/a\nStatus: 404\n\nno such page"));
}

#[test]
fn less_can_be_asked_for() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench, vec![page("content-type: text/plain\r\n", "0123456789")]);
    elsewhere.name("site.test", &[PUBLIC]);
    let tools = careful(&bench, &elsewhere, limits());
    let text = bench.ok_with(&tools, "web_fetch", &json!({ "url": "http://site.test/", "max_bytes": 4 }));
    assert!(text.ends_with("\n\n0123") && text.contains("it is longer"), "{text}");
}
