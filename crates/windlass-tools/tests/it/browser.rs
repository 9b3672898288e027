//! `browser` as far as it can be told without one: what a call would reach, who may have it, and what is wrong with a call.
//! `real_browser` has the rest.

use serde_json::{Value, json};
use windlass_domain::{CallStatus, Effect, Prepared, Reach};
use windlass_sandbox::Hosts;
use windlass_tools::browser::{Browser, BrowserSetup};
use windlass_tools::{Confinement, Kit, Tool, Toolset};

use crate::support::Bench;

fn browser(listed: Option<&[&str]>) -> Vec<Box<dyn Tool>> {
    let hosts = listed.map(|listed| Hosts::parse(listed).unwrap());
    vec![Box::new(Browser::new(BrowserSetup::new("/usr/bin/chromium", hosts, str::to_owned)))]
}

fn prepare(listed: Option<&[&str]>, arguments: &Value) -> Result<Prepared, String> {
    let bench = Bench::new();
    let kit = Kit::only(browser(listed), Confinement::Restricted).unwrap();
    bench.prepare_with(&Toolset::new(bench.context(), kit), "browser", &arguments.to_string())
}

#[test]
fn a_call_says_where_what_it_is_given_could_go() {
    let listed: Option<&[&str]> = Some(&["shop.example"]);
    let (web, file) = ("https://shop.example/a", "file:///workspace/a.html");
    let shop = Reach::Outside(Some("shop.example".to_owned()));
    let check = |listed, arguments: Value, expected: &Reach| {
        let prepared = prepare(listed, &arguments).unwrap();
        assert_eq!((prepared.effect, &prepared.reach), (Effect::Once, expected), "{arguments}");
    };
    check(listed, json!({"action": "navigate", "url": web}), &shop);
    check(listed, json!({"action": "submit", "url": web, "selector": "form"}), &shop);
    check(listed, json!({"action": "read", "url": web}), &shop);
    // A page of the workspace may ask any listed host, as a command may.
    check(listed, json!({"action": "navigate", "url": file}), &Reach::NetworkProgram);
    check(None, json!({"action": "navigate", "url": file}), &Reach::Program);
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_started() {
    let listed: Option<&[&str]> = Some(&["shop.example"]);
    for (listed, arguments, said) in [
        (listed, json!({"action": "navigate", "url": "https://evil.example/"}), "not among the allowed hosts"),
        (listed, json!({"action": "navigate", "url": "http://169.254.169.254/"}), "not among the allowed hosts"),
        (listed, json!({"action": "navigate", "url": "https://shop.example:8443/"}), "allowed on other ports only"),
        (None, json!({"action": "navigate", "url": "https://shop.example/"}), "the sandbox has no network"),
        (listed, json!({"action": "navigate", "url": "file:///etc/passwd"}), "only files below file:///workspace/"),
        (listed, json!({"action": "navigate", "url": "javascript:alert(1)"}), "it must begin with https://"),
        (listed, json!({"action": "read"}), "no page is open; navigate to one first, or give `url`"),
        (listed, json!({"action": "click", "selector": "a"}), "no page is open"),
        (listed, json!({"action": "submitt"}), "did you mean \"submit\"?"),
        (listed, json!({"action": "submit", "selector": "form"}), "`url` is missing"),
        (listed, json!({"url": "https://shop.example/"}), "`action`: missing"),
    ] {
        let error = prepare(listed, &arguments).unwrap_err();
        assert!(error.contains(said), "{arguments}: {error}");
    }
}

#[test]
fn a_browser_that_does_not_start_is_an_error_and_not_the_end() {
    let bench = Bench::new();
    let tools = Toolset::new(bench.context(), Kit::only(browser(None), Confinement::Sealed).unwrap());
    let arguments = json!({"action": "navigate", "url": "file:///workspace/a.html"});
    for _ in 0..2 {
        let ran = bench.call_with(&tools, "browser", &arguments);
        assert_eq!(ran.status, CallStatus::Error);
        assert_eq!(ran.content, "Error: the browser could not be started: run a command: the sandbox was closed");
    }
}

/// INV-04.
#[test]
fn who_must_not_change_anything_has_none() {
    let bench = Bench::new();
    let has_one = |kit: Kit| {
        let kit = kit.with(browser(None)).unwrap();
        Toolset::new(bench.context(), kit).specs().iter().any(|spec| spec.name == "browser")
    };
    assert!(has_one(Kit::executor(Confinement::Sealed)));
    assert!(!has_one(Kit::read_only()) && !has_one(Kit::none()));
}
