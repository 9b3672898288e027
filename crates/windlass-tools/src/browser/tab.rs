//! One browser with one page: starting it, asking it, and heeding what it says while an answer is awaited. Requests are judged,
//! dialogues dismissed, windows closed, downloads, passwords and files refused; what happened of that is noted.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use serde_json::{Value, json};
use windlass_domain::{Instant, Runtime};
use windlass_sandbox::Sandbox;

use super::address::Place;
use super::guard::{Guard, Request, Ruling, Why};
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
    wire: Wire,
    runtime: Arc<dyn Runtime>,
    /// How long a page may take to load.
    load: Duration,
    session: String,
    /// The page's id, which is its main frame's too.
    page: String,
    guard: Guard,
    pub notes: Notes,
    is_loading: bool,
    /// Where the page is.
    pub url: String,
    /// Where it was asked to go, for as long as it has not gone on by itself.
    asked: Option<String>,
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
        let found = self.ask_browser("Target.getTargets", json!({})).await?;
        let pages = found["targetInfos"].as_array().into_iter().flatten().filter(|target| target["type"] == "page");
        self.page = pages.map(|page| text(&page["targetId"])).next().unwrap_or_default().to_owned();
        let attach = json!({"targetId": self.page, "flatten": true});
        let attached = self.ask_browser("Target.attachToTarget", attach).await?;
        self.session = text(&attached["sessionId"]).to_owned();
        self.ask_browser("Target.setDiscoverTargets", json!({"discover": true})).await?;
        self.ask_browser("Browser.setDownloadBehavior", json!({"behavior": "deny", "eventsEnabled": true})).await?;
        let everything = json!({"patterns": [{"urlPattern": "*"}], "handleAuthRequests": true});
        self.ask_browser("Fetch.enable", everything).await?;
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
        let said = self.script(json!({"what": what})).await?;
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
            self.ask(typing.0, typing.1).await?;
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

    /// Asks for something on one element, or says what is in the way.
    async fn on(&mut self, what: &str, selector: &str, text: &str) -> Result<Value, Trouble> {
        let said = self.script(json!({"what": what, "selector": selector, "text": text})).await?;
        match said["problem"].as_str() {
            Some(problem) => Err(Trouble::Declined(format!("`{selector}`: {problem}"))),
            None => Ok(said),
        }
    }

    async fn press(&mut self, spot: &Value) -> Result<(), Trouble> {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({"type": kind, "x": spot["x"], "y": spot["y"], "button": button, "clickCount": 1});
            self.ask("Input.dispatchMouseEvent", event).await?;
        }
        Ok(())
    }

    /// In a world apart from the page's own scripts. A page that is replaced meanwhile is asked once more.
    async fn script(&mut self, request: Value) -> Result<Value, Trouble> {
        match self.try_script(&request).await {
            Err(Trouble::Refused(_)) => self.try_script(&request).await,
            other => other,
        }
    }

    async fn try_script(&mut self, request: &Value) -> Result<Value, Trouble> {
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

    /// Answers to what nobody waits for are let go.
    async fn heed(&mut self, incoming: Incoming) -> Result<(), Trouble> {
        let Incoming::Event { method, params } = incoming else { return Ok(()) };
        match method.as_str() {
            "Fetch.requestPaused" => self.judge(&params).await,
            "Fetch.authRequired" => {
                self.notes.add("a password was asked for and not given", text(&params["request"]["url"]));
                let no = json!({"requestId": params["requestId"], "authChallengeResponse": {"response": "CancelAuth"}});
                self.tell_browser("Fetch.continueWithAuth", no).await
            }
            "Page.javascriptDialogOpening" => self.dismiss(&params).await,
            "Target.targetCreated" => self.close_if_window(&params["targetInfo"]).await,
            "Page.windowOpen" => {
                self.notes.add("another window was closed at once (navigate if you want it)", text(&params["url"]));
                Ok(())
            }
            "Browser.downloadWillBegin" => {
                self.notes.add("a download was refused", text(&params["url"]));
                Ok(())
            }
            "Page.fileChooserOpened" => {
                self.notes.add("a file was asked for and not given", "");
                Ok(())
            }
            "Target.targetCrashed" | "Target.targetDestroyed" if params["targetId"] == self.page => {
                Err(Trouble::Gone("the page crashed or closed itself".to_owned()))
            }
            "Target.targetDestroyed" => {
                self.guard.window_closed(text(&params["targetId"]));
                Ok(())
            }
            _ => {
                self.follow(&method, &params);
                Ok(())
            }
        }
    }

    /// What the main frame is doing.
    fn follow(&mut self, method: &str, params: &Value) {
        match method {
            "Page.frameStartedLoading" if params["frameId"] == self.page => self.is_loading = true,
            "Page.frameStoppedLoading" if params["frameId"] == self.page => self.is_loading = false,
            "Page.frameNavigated" if params["frame"]["id"] == self.page => {
                let frame = &params["frame"];
                self.url = format!("{}{}", text(&frame["url"]), text(&frame["urlFragment"]));
                self.asked = None;
                self.typed.clear();
                self.guard.new_page();
            }
            "Page.navigatedWithinDocument" if params["frameId"] == self.page => {
                self.url = text(&params["url"]).to_owned();
                self.asked = None;
            }
            _ => {}
        }
    }

    async fn judge(&mut self, params: &Value) -> Result<(), Trouble> {
        let (url, method) = (text(&params["request"]["url"]), text(&params["request"]["method"]));
        let is_document = params["resourceType"] == "Document";
        let frame = text(&params["frameId"]);
        let request_id = &params["requestId"];
        let Ruling::Stop(why) = self.guard.judge(&Request { url, method, is_document, frame }) else {
            return self.tell_browser("Fetch.continueRequest", json!({"requestId": request_id})).await;
        };
        match &why {
            Why::Window => {}
            Why::Submits => self.notes.add(
                "stopped, because it would submit something (use submit if that is wanted)",
                &format!("{method} {url}"),
            ),
            Why::NotListed(host) => self.notes.add("not reached", host),
            Why::NoNetwork => self.notes.add("not reached, because the sandbox has no network", url),
            Why::Outside => self.notes.add("not opened, because it is not below /workspace", url),
            Why::Scheme => self.notes.add("not opened", url),
        }
        // The page stays where it is.
        let reason = if is_document { "Aborted" } else { "BlockedByClient" };
        let stopped = json!({"requestId": request_id, "errorReason": reason});
        self.tell_browser("Fetch.failRequest", stopped).await
    }

    /// No to everything, but for leaving a page that would rather be stayed on.
    async fn dismiss(&mut self, params: &Value) -> Result<(), Trouble> {
        let is_leaving = params["type"] == "beforeunload";
        if !is_leaving {
            self.notes.add("a dialogue was dismissed", text(&params["message"]));
        }
        let session = self.session.clone();
        let answer = json!({"accept": is_leaving});
        self.wire.send(Some(&session), "Page.handleJavaScriptDialog", answer).await.map(drop)
    }

    async fn close_if_window(&mut self, target: &Value) -> Result<(), Trouble> {
        let id = text(&target["targetId"]);
        if target["type"] != "page" || id == self.page {
            return Ok(());
        }
        self.guard.window_opened(id);
        self.tell_browser("Target.closeTarget", json!({"targetId": id})).await
    }

    /// Without waiting for the answer.
    async fn tell_browser(&mut self, method: &str, params: Value) -> Result<(), Trouble> {
        self.wire.send(None, method, params).await.map(drop)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
