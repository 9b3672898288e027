//! The rule over every request of the browser, whoever in it makes it: page, frame, worker or window. Pure.
//!
//! What submits something is let through while `submit` is at work, and not otherwise. Reading is GET, HEAD and OPTIONS. A page that
//! the agent has only opened may ask its own server for its content by any method: it can send nothing that it did not bring along.
//! Once the agent has clicked or typed on it, it could send that, and whatever is not reading is stopped until the agent opens another page:
//! one that the page itself goes on to may have been told by it. A document is never asked for by another method: that is a form,
//! whoever pressed its button.
//!
//! Whatever is not reading goes to the page's own origin alone, also in `submit`: one listed host is no way to write to another. A
//! file has no such origin. The page is what it was asked for as and what has come; while these differ, it has none either.
//!
//! Not seen here: WebSockets, which go to listed hosts all the same, and what a page writes into the address that it reads.

use std::collections::BTreeSet;

use windlass_sandbox::{Hosts, Spelling};

use super::address::{is_in_workspace, scheme, server};

pub(super) struct Guard {
    /// `None`: there is no network.
    hosts: Option<Hosts>,
    /// Windows that a page has opened and that are being closed.
    windows: BTreeSet<String>,
    touched: bool,
    submitting: bool,
    /// Of the page that was last asked for, and of the one that has come.
    asked: Option<Origin>,
    come: Option<Origin>,
}

/// Scheme, host and port.
type Origin = (String, String, u16);

fn origin(url: &str) -> Option<Origin> {
    let scheme = scheme(url).filter(|scheme| matches!(scheme.as_str(), "http" | "https"))?;
    let (host, port) = server(url)?;
    Some((scheme, host, port))
}

/// One request, as the browser describes it.
pub(super) struct Request<'a> {
    pub url: &'a str,
    pub method: &'a str,
    pub is_document: bool,
    pub frame: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ruling {
    Pass,
    /// To the sandbox's proxy, which refuses this host and sees to it that the operator learns of it.
    Refer(String),
    Stop(Why),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    /// It would submit something.
    Submits,
    /// It would send something to another origin than the page's own.
    Elsewhere,
    /// Of a window that nobody wants.
    Window,
    NoNetwork,
    Outside,
    Scheme,
}

impl Guard {
    pub const fn new(hosts: Option<Hosts>) -> Self {
        Self { hosts, windows: BTreeSet::new(), touched: false, submitting: false, asked: None, come: None }
    }

    /// The main document is asked for.
    pub fn page_asked(&mut self, url: &str) {
        self.asked = origin(url);
    }

    pub fn page_came(&mut self, url: &str) {
        self.come = origin(url);
    }

    /// The agent has given the page something, or made it do something.
    pub fn touch(&mut self) {
        self.touched = true;
    }

    pub const fn is_touched(&self) -> bool {
        self.touched
    }

    /// The agent itself opens a page, and nothing is left of the one before.
    pub fn new_page(&mut self) {
        self.touched = false;
    }

    pub fn submit(&mut self, submitting: bool) {
        self.submitting = submitting;
    }

    pub fn window_opened(&mut self, window: &str) {
        self.windows.insert(window.to_owned());
    }

    pub fn window_closed(&mut self, window: &str) {
        self.windows.remove(window);
    }

    pub fn judge(&self, request: &Request<'_>) -> Ruling {
        if self.windows.contains(request.frame) {
            return Ruling::Stop(Why::Window);
        }
        let leads = self.leads(request.url);
        let reads = matches!(request.method, "GET" | "HEAD" | "OPTIONS");
        let may_act = self.submitting || !(request.is_document || self.touched);
        match leads {
            Ruling::Pass | Ruling::Refer(_) if !reads && !may_act => Ruling::Stop(Why::Submits),
            Ruling::Pass if !reads && !self.is_own(request.url) => Ruling::Stop(Why::Elsewhere),
            leads => leads,
        }
    }

    fn is_own(&self, url: &str) -> bool {
        let to = origin(url);
        to.is_some() && to == self.asked && to == self.come
    }

    /// By where it goes alone.
    fn leads(&self, url: &str) -> Ruling {
        match scheme(url).as_deref() {
            Some("http" | "https") => self.leads_out(url),
            Some("file") if !is_in_workspace(url) => Ruling::Stop(Why::Outside),
            // The others are what the page has made itself.
            Some("file" | "data" | "blob" | "about") => Ruling::Pass,
            _ => Ruling::Stop(Why::Scheme),
        }
    }

    fn leads_out(&self, url: &str) -> Ruling {
        let Some(hosts) = &self.hosts else { return Ruling::Stop(Why::NoNetwork) };
        let Some((host, port)) = server(url) else { return Ruling::Stop(Why::Scheme) };
        match hosts.judge(&Spelling::of(&host), port) {
            Ok(_) => Ruling::Pass,
            Err(reason) => Ruling::Refer(format!("{host}:{port}: {reason}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        let mut guard = Guard::new(Some(Hosts::parse(["shop.example", ".docs.example"]).expect("a list")));
        at(&mut guard, "https://shop.example/");
        guard
    }

    fn at(guard: &mut Guard, url: &str) {
        guard.page_asked(url);
        guard.page_came(url);
    }

    fn judge(guard: &Guard, method: &str, url: &str, is_document: bool) -> Ruling {
        guard.judge(&Request { url, method, is_document, frame: "main" })
    }

    #[test]
    fn a_form_goes_nowhere_but_in_submit() {
        let mut guard = guard();
        let url = "https://shop.example/buy";
        assert_eq!(judge(&guard, "GET", url, true), Ruling::Pass);
        for method in ["POST", "PUT", "DELETE", "post", "X"] {
            assert_eq!(judge(&guard, method, url, true), Ruling::Stop(Why::Submits), "{method}");
        }
        guard.submit(true);
        assert_eq!(judge(&guard, "POST", url, true), Ruling::Pass);
        assert!(matches!(judge(&guard, "POST", "https://other.example/", true), Ruling::Refer(_)));
        guard.submit(false);
        assert_eq!(judge(&guard, "POST", url, true), Ruling::Stop(Why::Submits));
    }

    #[test]
    fn a_page_that_was_touched_only_reads() {
        let mut guard = guard();
        let url = "https://shop.example/graphql";
        assert_eq!(judge(&guard, "POST", url, false), Ruling::Pass);
        guard.touch();
        assert_eq!(judge(&guard, "POST", url, false), Ruling::Stop(Why::Submits));
        assert_eq!(judge(&guard, "GET", url, false), Ruling::Pass);
        guard.new_page();
        assert_eq!(judge(&guard, "POST", url, false), Ruling::Pass);
    }

    #[test]
    fn nothing_is_written_to_another_origin() {
        let mut guard = guard();
        let (own, other) = ("https://shop.example/a", "https://a.docs.example/");
        for submitting in [false, true] {
            guard.submit(submitting);
            assert_eq!(judge(&guard, "POST", own, false), Ruling::Pass);
            for url in [other, "http://shop.example/", "http://shop.example:443/", "data:,x"] {
                assert_eq!(judge(&guard, "POST", url, false), Ruling::Stop(Why::Elsewhere), "{url}");
            }
            assert_eq!(judge(&guard, "GET", other, false), Ruling::Pass);
        }
        // A page that was asked for and has not come, as a download does not, is not the page.
        guard.page_asked(other);
        assert_eq!(judge(&guard, "POST", other, false), Ruling::Stop(Why::Elsewhere));
        assert_eq!(judge(&guard, "POST", own, false), Ruling::Stop(Why::Elsewhere));
        guard.page_came(other);
        assert_eq!(judge(&guard, "POST", other, false), Ruling::Pass);
        at(&mut guard, "file:///workspace/a.html");
        assert_eq!(judge(&guard, "POST", own, false), Ruling::Stop(Why::Elsewhere));
    }

    #[test]
    fn what_is_not_listed_is_not_reached() {
        let guard = guard();
        for url in ["http://169.254.169.254/", "https://shop.example:8443/", "https://docs.example.evil/", "http://0/"]
        {
            assert!(matches!(judge(&guard, "GET", url, true), Ruling::Refer(_)), "{url}");
        }
        for url in ["https://a.docs.example/", "http://shop.example/", "file:///workspace/a.html", "data:,x", "blob:x"]
        {
            assert_eq!(judge(&guard, "GET", url, true), Ruling::Pass, "{url}");
        }
        for url in ["file:///etc/passwd", "file:///workspace/../etc/passwd"] {
            assert_eq!(judge(&guard, "GET", url, true), Ruling::Stop(Why::Outside), "{url}");
        }
        for url in ["chrome://version/", "ftp://shop.example/", "view-source:https://shop.example/", "https://"] {
            assert_eq!(judge(&guard, "GET", url, true), Ruling::Stop(Why::Scheme), "{url}");
        }
        let sealed = Guard::new(None);
        assert_eq!(judge(&sealed, "GET", "https://shop.example/", true), Ruling::Stop(Why::NoNetwork));
        assert_eq!(judge(&sealed, "GET", "file:///workspace/a.html", true), Ruling::Pass);
    }

    #[test]
    fn windows_that_are_being_closed_ask_for_nothing() {
        let mut guard = guard();
        guard.window_opened("other");
        let asks = |guard: &Guard, frame: &str| {
            guard.judge(&Request { url: "https://shop.example/", method: "GET", is_document: true, frame })
        };
        assert_eq!(asks(&guard, "other"), Ruling::Stop(Why::Window));
        assert_eq!(asks(&guard, "main"), Ruling::Pass);
        guard.window_closed("other");
        assert_eq!(asks(&guard, "other"), Ruling::Pass);
    }
}
