//! What a browser says by itself, and what is done about it: requests are judged, dialogues dismissed, windows closed, downloads,
//! passwords and files refused, and where the page is is followed. What a model should know of that is noted.

use serde_json::{Value, json};

use super::guard::{Request, Ruling, Why};
use super::tab::{Tab, text};
use super::trouble::Trouble;
use super::wire::Incoming;

impl Tab {
    /// Answers to what nobody waits for are let go.
    pub(super) async fn heed(&mut self, incoming: Incoming) -> Result<(), Trouble> {
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
                self.guard.page_came(&self.url);
                self.asked = None;
                self.typed.clear();
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
        let why = match self.guard.judge(&Request { url, method, is_document, frame }) {
            Ruling::Pass => None,
            Ruling::Refer(host) => {
                self.notes.add("not reached", &host);
                None
            }
            Ruling::Stop(why) => Some(why),
        };
        let Some(why) = why else {
            if is_document && frame == self.page {
                self.guard.page_asked(url);
            }
            return self.tell_browser("Fetch.continueRequest", json!({"requestId": request_id})).await;
        };
        match why {
            Why::Window => {}
            Why::Submits => self.notes.add(
                "stopped, because it would submit something (use submit if that is wanted)",
                &format!("{method} {url}"),
            ),
            Why::Elsewhere => self.notes.add(
                "stopped, because it would send something elsewhere than to the page's own host",
                &format!("{method} {url}"),
            ),
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
}
