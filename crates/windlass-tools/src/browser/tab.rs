//! One browser with one page: starting it, asking it, and what can be done on the page. What it says by itself while an answer is
//! awaited is `heed`'s.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use serde_json::{Value, json};
use windlass_domain::{Instant, Runtime};
use windlass_sandbox::{PROXY_PORT, Sandbox};

use super::address::Place;
use super::guard::Guard;
use super::launch;
use super::notes::Notes;
use super::outline::Outline;
use super::trouble::Trouble;
use super::wire::{Incoming, Wire};

/// A page that has loaded and says nothing for so long has come to rest.
const QUIET: Duration = Duration::from_millis(300);
/// For one that never comes to rest after it has loaded.
const RESTLESS: Duration = Duration::from_secs(3);
const WIDTH: u32 = 1_280;
const HEIGHT: u32 = 800;
const WORLD: &str = "windlass";
const PAGE_SCRIPT: &str = include_str!("page.js");

pub(super) struct Tab {
    pub(super) wire: Wire,
    runtime: Arc<dyn Runtime>,
    /// How long a page may take to load.
    load: Duration,
    pub(super) session: String,
    /// The page's id, which is its main frame's too.
    pub(super) page: String,
    pub(super) guard: Guard,
    pub notes: Notes,
    pub(super) is_loading: bool,
    /// Where the page is.
    pub url: String,
    /// Where it was asked to go, for as long as it has not gone on by itself.
    pub(super) asked: Option<String>,
    /// What the agent has filled in on this page, by selector.
    pub typed: Vec<(String, String)>,
}

impl Tab {
    pub async fn open(
        sandbox: &dyn Sandbox,
        program: &str,
        guard: Guard,
        load: Duration,
        runtime: Arc<dyn Runtime>,
    ) -> Result<Self, Trouble> {
        let running = sandbox.start(launch::command(program)).await;
        let wire = Wire::new(running.map_err(|error| Trouble::NotStarted(error.to_string()))?);
        let mut tab = Self {
            wire,
            runtime,
            load,
            session: String::new(),
            page: String::new(),
            guard,
            notes: Notes::default(),
            is_loading: false,
            url: String::new(),
            asked: None,
            typed: Vec::new(),
        };
        match tab.set_up().await {
            Ok(()) => Ok(tab),
            Err(Trouble::Gone(why) | Trouble::Refused(why)) => Err(Trouble::NotStarted(why)),
            Err(trouble) => Err(trouble),
        }
    }

    /// Everything is judged before the first page is asked for.
    async fn set_up(&mut self) -> Result<(), Trouble> {
        let everything = json!({"patterns": [{"urlPattern": "*"}], "handleAuthRequests": true});
        self.ask_browser("Fetch.enable", everything).await?;
        let way_out = json!({
            "disposeOnDetach": true,
            "proxyServer": format!("http://127.0.0.1:{PROXY_PORT}"),
            // Not even the sandbox's own loopback is reached past it.
            "proxyBypassList": "<-loopback>",
        });
        let context = self.ask_browser("Target.createBrowserContext", way_out).await?["browserContextId"].take();
        let blank = json!({"url": "about:blank", "browserContextId": context});
        self.page = text(&self.ask_browser("Target.createTarget", blank).await?["targetId"]).to_owned();
        let attach = json!({"targetId": self.page, "flatten": true});
        let attached = self.ask_browser("Target.attachToTarget", attach).await?;
        self.session = text(&attached["sessionId"]).to_owned();
        // The window that it began with is closed like any other that is not the page's.
        self.ask_browser("Target.setDiscoverTargets", json!({"discover": true})).await?;
        let refused = json!({"behavior": "deny", "browserContextId": context, "eventsEnabled": true});
        self.ask_browser("Browser.setDownloadBehavior", refused).await?;
        self.ask("Page.enable", json!({})).await?;
        self.ask("Page.setInterceptFileChooserDialog", json!({"enabled": true, "cancel": true})).await?;
        let screen = json!({"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", screen).await?;
        Ok(())
    }

    /// Whether the page that is open is the one that is meant.
    pub fn is_at(&self, place: &Place) -> bool {
        self.url == place.url() || self.asked.as_deref() == Some(place.url())
    }

    pub async fn navigate(&mut self, place: &Place) -> Result<(), Trouble> {
        if self.guard.is_touched() {
            // What the page before still wants, also as it is left, is judged as its own.
            self.ask("Page.navigate", json!({"url": "about:blank"})).await?;
            self.settle().await?;
            self.guard.new_page();
        }
        let answer = self.ask("Page.navigate", json!({"url": place.url()})).await?;
        let is_download = answer["isDownload"] == true;
        if let Some(error) = answer["errorText"].as_str().filter(|error| !error.is_empty()) {
            let why = if is_download { "it is a file to download, and downloads are refused" } else { error };
            return Err(Trouble::Declined(format!("{} could not be opened: {why}", place.url())));
        }
        self.asked = Some(place.url().to_owned());
        self.settle().await
    }

    /// Waits for the page to come to rest, within bounds.
    pub async fn settle(&mut self) -> Result<(), Trouble> {
        let end = self.runtime.now() + self.load;
        let mut rest_by: Option<Instant> = None;
        loop {
            let now = self.runtime.now();
            let by = match (self.is_loading, rest_by) {
                (true, _) => end,
                (false, Some(rest_by)) => rest_by.min(end),
                (false, None) => (now + RESTLESS).min(end),
            };
            rest_by = (!self.is_loading).then_some(by);
            let until = if self.is_loading { by } else { by.min(now + QUIET) };
            match self.hear_by(until).await? {
                Some(incoming) => self.heed(incoming).await?,
                None if self.is_loading => {
                    self.notes.add("the page was still loading when its time was up, and is shown as it is", "");
                    return self.ask("Page.stopLoading", json!({})).await.map(drop);
                }
                None => return Ok(()),
            }
            if self.runtime.now() >= by && !self.is_loading {
                return Ok(());
            }
        }
    }

    async fn hear_by(&mut self, until: Instant) -> Result<Option<Incoming>, Trouble> {
        match select(Box::pin(self.wire.hear()), self.runtime.sleep_until(until)).await {
            Either::Left((incoming, _)) => incoming.map(Some),
            Either::Right(_) => Ok(None),
        }
    }

    pub async fn whereabouts(&mut self) -> Result<Outline, Trouble> {
        self.outline("where").await
    }

    pub async fn read(&mut self) -> Result<Outline, Trouble> {
        self.outline("read").await
    }

    async fn outline(&mut self, what: &str) -> Result<Outline, Trouble> {
        let request = json!({"what": what});
        let said = match self.script(&request).await {
            // A page that is replaced meanwhile is read once more: that changes nothing.
            Err(Trouble::Refused(_)) => self.script(&request).await?,
            said => said?,
        };
        serde_json::from_value(said).map_err(|error| Trouble::Refused(format!("the page cannot be read ({error})")))
    }

    /// A PNG of what can be seen.
    pub async fn screenshot(&mut self) -> Result<Vec<u8>, Trouble> {
        let shot = self.ask("Page.captureScreenshot", json!({"format": "png"})).await?;
        let bytes = super::base64::decode(text(&shot["data"]));
        bytes.ok_or_else(|| Trouble::Refused("the screenshot cannot be read".to_owned()))
    }

    pub async fn click(&mut self, selector: &str) -> Result<(), Trouble> {
        let spot = self.on("click", selector, "").await?;
        self.guard.touch();
        self.press(&spot).await?;
        self.settle().await
    }

    pub async fn fill(&mut self, selector: &str, text: &str) -> Result<(), Trouble> {
        self.guard.touch();
        let filled = self.on("fill", selector, text).await?;
        if filled["type"] == true {
            let typing = match text.is_empty() {
                // There is nothing to type, only what is selected to take away.
                true => {
                    ("Input.dispatchKeyEvent", json!({"type": "keyDown", "key": "Delete", "windowsVirtualKeyCode": 46}))
                }
                false => ("Input.insertText", json!({"text": text})),
            };
            self.ask(typing.0, typing.1).await.map_err(Trouble::unclear)?;
        }
        self.typed.retain(|(known, _)| known != selector);
        self.typed.push((selector.to_owned(), text.to_owned()));
        Ok(())
    }

    /// Whatever the page does until it has come to rest is part of it.
    pub async fn submit(&mut self, selector: &str) -> Result<(), Trouble> {
        self.guard.submit(true);
        let submitted = self.submitted(selector).await;
        self.guard.submit(false);
        submitted
    }

    async fn submitted(&mut self, selector: &str) -> Result<(), Trouble> {
        let spot = self.on("submit", selector, "").await?;
        self.guard.touch();
        if spot["done"] != true {
            self.press(&spot).await?;
        }
        self.settle().await
    }

    /// Asks for something on one element, or says what is in the way. Never twice: a page that is replaced meanwhile may have been
    /// told already, and the next one is not the one that was meant.
    async fn on(&mut self, what: &str, selector: &str, text: &str) -> Result<Value, Trouble> {
        let request = json!({"what": what, "selector": selector, "text": text});
        let said = self.script(&request).await.map_err(Trouble::unclear)?;
        match said["problem"].as_str() {
            Some(problem) => Err(Trouble::Declined(format!("`{selector}`: {problem}"))),
            None => Ok(said),
        }
    }

    async fn press(&mut self, spot: &Value) -> Result<(), Trouble> {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({"type": kind, "x": spot["x"], "y": spot["y"], "button": button, "clickCount": 1});
            self.ask("Input.dispatchMouseEvent", event).await.map_err(Trouble::unclear)?;
        }
        Ok(())
    }

    /// In a world apart from the page's own scripts.
    async fn script(&mut self, request: &Value) -> Result<Value, Trouble> {
        let world = json!({"frameId": self.page, "worldName": WORLD});
        let world = self.ask("Page.createIsolatedWorld", world).await?["executionContextId"].take();
        let script = PAGE_SCRIPT.split_once("\n(").map_or("", |(_, script)| script).trim_end();
        let expression = format!("({script}({request})");
        let evaluate = json!({"expression": expression, "contextId": world, "returnByValue": true});
        let mut said = self.ask("Runtime.evaluate", evaluate).await?;
        match said["exceptionDetails"]["exception"]["description"].as_str() {
            Some(fault) => Err(Trouble::Refused(fault.lines().next().unwrap_or_default().to_owned())),
            None => Ok(said["result"]["value"].take()),
        }
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Trouble> {
        let session = self.session.clone();
        self.exchange(Some(&session), method, params).await
    }

    async fn ask_browser(&mut self, method: &str, params: Value) -> Result<Value, Trouble> {
        self.exchange(None, method, params).await
    }

    async fn exchange(&mut self, session: Option<&str>, method: &str, params: Value) -> Result<Value, Trouble> {
        let id = self.wire.send(session, method, params).await?;
        loop {
            match self.wire.hear().await? {
                Incoming::Answer { id: of, result } if of == id => {
                    return result.map_err(|why| Trouble::Refused(format!("{method}: {why}")));
                }
                other => self.heed(other).await?,
            }
        }
    }

    /// Without waiting for the answer.
    pub(super) async fn tell_browser(&mut self, method: &str, params: Value) -> Result<(), Trouble> {
        self.wire.send(None, method, params).await.map(drop)
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
