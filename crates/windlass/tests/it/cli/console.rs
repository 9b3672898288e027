//! The console's pages, as the server sends them: open to everybody, never in the API's stead, and to no page of others. Whether this
//! program was built with the console or without, an address leads to a page.

use super::scripts::HELLO;
use super::serving::serve;
use crate::support::{Home, ask};

#[test]
fn every_address_but_the_apis_leads_to_a_page_that_holds_to_its_policy() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    for path in ["/", "/review", "/tasks/01a1ecae-a16b-7260-acce-7dd0eb7861c2", "/v1x"] {
        let page = ask(&served.address, "GET", path, &[], "").expect(200);
        assert!(page.body.starts_with("<!doctype html>"), "{path}: {page:?}");
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(page.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    for path in ["/v1", "/v1/", "/v1/nothing", "/v1/tasks"] {
        ask(&served.address, "GET", path, &[], "").expect(401);
        let told = served.get(path);
        assert!(!told.body.contains("<!doctype"), "{path}: {told:?}");
    }
    ask(&served.address, "POST", "/review", &[("Content-Type", "application/json")], "{}").expect(401);
    ask(&served.address, "GET", "/assets/gone.js", &[], "").expect(404);
    served.end();
}

#[test]
fn a_page_of_others_may_link_to_the_console_and_gets_nothing_of_it() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let elsewhere = ("Sec-Fetch-Site", "cross-site");
    let link = [elsewhere, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    ask(&served.address, "GET", "/review", &link, "").expect(200);
    let frame = [elsewhere, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")];
    ask(&served.address, "GET", "/review", &frame, "").expect(403);
    ask(&served.address, "GET", "/", &[("Origin", "http://evil.example")], "").expect(403);
    // A link leads to pages alone.
    ask(&served.address, "GET", "/v1/health", &link, "").expect(403);
    ask(&served.address, "GET", "/openapi.json", &link, "").expect(403);
    served.end();
}
