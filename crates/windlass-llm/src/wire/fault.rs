//! What a provider's refusal means. Status codes say less than they should: an overflow is a 400 here and a 413 there, an
//! empty account a 429, a wrong model a 404 or a 400; so the texts and types of both families are read as well.

use std::time::Duration;

use crate::error::{Error, Failure};

/// An error as the provider told it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// Zero when it came in the middle of a stream, which had begun with a 200.
    pub status: u16,
    /// `type` and `code`, in lower case.
    pub kinds: Vec<String>,
    pub message: String,
    pub retry_after: Option<Duration>,
}

/// Why an answer cannot be read.
#[derive(Debug)]
pub enum Trouble {
    /// The provider says so.
    Fault(Fault),
    /// It is not what the provider documents; it may have been damaged on the way.
    Garbled(String),
    /// It is undamaged, and no answer; what it is instead.
    NotAnAnswer(&'static str),
    TooLong {
        limit: usize,
    },
}

/// Who is asking, for the message.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    pub model: &'a str,
    pub url: &'a str,
    pub key_variable: &'static str,
}

impl Fault {
    /// From the body of an error response, which may be JSON of several shapes, HTML, or nothing.
    pub fn from_body(status: u16, body: &[u8], retry_after: Option<Duration>) -> Self {
        let said = serde_json::from_slice(body).map(|json| Said::from_envelope(&json)).unwrap_or_default();
        let message = match said.message {
            message if !message.is_empty() => message,
            _ => String::from_utf8_lossy(body).trim().to_owned(),
        };
        Self { status, kinds: said.kinds, message, retry_after }
    }

    /// From the value of an `error` field in the middle of an answer.
    pub fn from_error(error: &serde_json::Value) -> Self {
        let said = Said::from_value(error);
        let status = said.kinds.iter().find_map(|kind| kind.parse().ok()).unwrap_or(0);
        Self { status, kinds: said.kinds, message: said.message, retry_after: None }
    }

    /// `self.message` must be fit to be shown.
    pub fn into_failure(self, asker: Asker<'_>) -> Failure {
        let Self { status, message: detail, retry_after, .. } = &self;
        let (status, detail) = (*status, detail.clone());
        if self.is_overflow() {
            return Error::ContextOverflow { model: asker.model.to_owned(), detail }.into();
        }
        if self.is_out_of_credit() {
            return Error::OutOfCredit { detail }.into();
        }
        if self.is_transient() {
            let reason = match (status, detail.as_str()) {
                (0, detail) => format!("the provider broke off ({detail})"),
                (status, "") => format!("the provider answered with status {status}"),
                (status, detail) => format!("the provider answered with status {status} ({detail})"),
            };
            return Failure::Transient { reason, retry_after: *retry_after };
        }
        self.into_error(asker).into()
    }

    fn into_error(self, asker: Asker<'_>) -> Error {
        let Self { status, message: detail, .. } = &self;
        let (status, detail) = (*status, detail.clone());
        let url = || asker.url.to_owned();
        match status {
            _ if self.is_about_the_key() => Error::KeyRefused { status, variable: asker.key_variable, detail },
            _ if self.is_about_the_model() => Error::UnknownModel { model: asker.model.to_owned(), status, detail },
            300..=399 => {
                Error::NotAModelServer { url: url(), detail: format!("it redirects elsewhere, status {status}") }
            }
            404 | 405 => Error::NotAModelServer { url: url(), detail: format!("status {status}: {detail}") },
            _ => Error::Rejected { status, detail },
        }
    }

    fn is_kind(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    fn says(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }

    fn is_overflow(&self) -> bool {
        let may_be = matches!(self.status, 0 | 400 | 413 | 422 | 500);
        may_be
            && (self.is_kind(&[
                "context_length_exceeded",
                "exceed_context_size_error",
                "model_context_window_exceeded",
            ]) || self.says(&[
                "context length",
                "context window",
                "context size",
                "prompt is too long",
                "input is too long",
                "exceed context limit",
                "maximum number of tokens",
                "too many tokens",
                "input token count",
                "reduce the length of the messages",
            ]))
    }

    fn is_out_of_credit(&self) -> bool {
        self.status == 402
            || self.is_kind(&["insufficient_quota", "billing_error", "billing_hard_limit_reached"])
            || (matches!(self.status, 400 | 403 | 429) && self.says(&["credit balance", "exceeded your current quota"]))
    }

    fn is_transient(&self) -> bool {
        const PASSING: &[&str] = &[
            "overloaded_error",
            "api_error",
            "rate_limit_error",
            "rate_limit_exceeded",
            "timeout_error",
            "server_error",
            "internal_server_error",
            "service_unavailable",
        ];
        const LASTING: &[&str] = &[
            "invalid_request_error",
            "authentication_error",
            "permission_error",
            "not_found_error",
            "request_too_large",
            "invalid_api_key",
            "model_not_found",
        ];
        match self.status {
            // In the middle of a stream only the kind tells; what is not known to last is worth a retry.
            0 => self.is_kind(PASSING) || !self.is_kind(LASTING),
            408 | 409 | 425 | 429 => true,
            501 | 505 => false,
            status => status >= 500,
        }
    }

    fn is_about_the_key(&self) -> bool {
        matches!(self.status, 401 | 403)
            || self.is_kind(&["authentication_error", "permission_error", "invalid_api_key"])
    }

    fn is_about_the_model(&self) -> bool {
        let is_missing = self.is_kind(&["not_found_error"]) || self.says(&["not exist", "not found"]);
        let named = self.is_kind(&["model_not_found", "invalid_model"])
            || self.says(&["no such model", "invalid model", "unknown model"])
            || (self.says(&["model"]) && is_missing);
        matches!(self.status, 0 | 400 | 404 | 422) && named
    }
}

#[derive(Default)]
struct Said {
    kinds: Vec<String>,
    message: String,
}

impl Said {
    /// `{"error": {…}}`, `{"type": "error", "error": {…}}`, `{"error": "…"}`, `{"message": "…"}`, `{"detail": …}`, and any
    /// of these in a list.
    fn from_envelope(json: &serde_json::Value) -> Self {
        let envelope = json.get(0).unwrap_or(json);
        let told = ["error", "message", "detail"].iter().find_map(|name| envelope.get(name));
        told.map(Self::from_value).unwrap_or_default()
    }

    fn from_value(value: &serde_json::Value) -> Self {
        let text = |value: &serde_json::Value| match value {
            serde_json::Value::Null => None,
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let field = |name: &str| value.get(name).and_then(text);
        let kinds = ["type", "code", "status"].iter().filter_map(|name| field(name)).map(|kind| kind.to_lowercase());
        let message = field("message").or_else(|| field("error")).or_else(|| text(value)).unwrap_or_default();
        Self { kinds: kinds.collect(), message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(status: u16, body: &str) -> String {
        let asker = Asker { model: "m", url: "http://h/v1", key_variable: "KEY" };
        match Fault::from_body(status, body.as_bytes(), None).into_failure(asker) {
            Failure::Transient { reason, .. } | Failure::Unheard { reason } => format!("transient: {reason}"),
            Failure::Unusable(what) => what.to_string(),
            Failure::Final(error) => format!("{error:?}"),
        }
    }

    fn check(status: u16, body: &str, expect: &str) {
        let failure = failure(status, body);
        assert!(failure.starts_with(expect), "{status} {body}: {failure}");
    }

    #[test]
    fn overflow_is_recognised_in_both_families() {
        let openai = r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130011 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#;
        let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215334 tokens > 200000 maximum"}}"#;
        let llama = r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":2048}}"#;
        let claude_output = r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}"#;
        for body in [openai, anthropic, llama, claude_output] {
            check(400, body, "ContextOverflow");
        }
        check(413, r#"{"error":{"message":"Prompt is too long"}}"#, "ContextOverflow");
        check(429, r#"{"error":{"message":"too many tokens per minute","type":"rate_limit_error"}}"#, "transient");
    }

    #[test]
    fn an_empty_account_is_not_worth_a_retry() {
        let openai = r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#;
        check(429, openai, "OutOfCredit");
        let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#;
        check(400, anthropic, "OutOfCredit");
        check(402, "", "OutOfCredit");
    }

    #[test]
    fn what_passes_is_retried_and_what_lasts_is_not() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            check(status, "", "transient");
        }
        check(400, r#"{"error":{"message":"bad tool schema"}}"#, "Rejected { status: 400, detail: \"bad tool schema\"");
        check(401, r#"{"error":{"message":"nope"}}"#, "KeyRefused { status: 401, variable: \"KEY\", detail: \"nope\"");
        check(403, "<html>forbidden</html>", "KeyRefused");
        check(422, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "Rejected { status: 422");
        check(501, "", "Rejected");
        check(302, "", "NotAModelServer");
    }

    #[test]
    fn a_wrong_model_is_told_from_a_wrong_address() {
        let openai = r#"{"error":{"message":"The model `m` does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}"#;
        check(404, openai, "UnknownModel { model: \"m\"");
        check(404, r#"{"type":"error","error":{"type":"not_found_error","message":"model: m"}}"#, "UnknownModel");
        check(
            400,
            r#"{"error":{"message":"/chat/completions: Invalid model name passed in model=m","code":"400"}}"#,
            "UnknownModel",
        );
        check(404, "<html>Not Found</html>", "NotAModelServer { url: \"http://h/v1\"");
        let llama = r#"{"error":{"message":"File Not Found","type":"not_found_error","code":404}}"#;
        check(404, llama, "NotAModelServer");
        check(405, r#"{"detail":"Method Not Allowed"}"#, "NotAModelServer");
        check(404, r#"[{"error":{"code":404,"message":"models/m is not found"}}]"#, "UnknownModel");
    }

    #[test]
    fn errors_in_the_middle_of_a_stream() {
        let check = |error: &str, expect: &str| {
            let asker = Asker { model: "m", url: "u", key_variable: "KEY" };
            let value = serde_json::from_str(error).expect("JSON");
            let shown = format!("{:?}", Fault::from_error(&value).into_failure(asker));
            assert!(shown.starts_with(expect), "{error}: {shown}");
        };
        check(r#"{"type":"overloaded_error","message":"Overloaded"}"#, "Transient");
        check(r#"{"type":"invalid_request_error","message":"no"}"#, "Final(Rejected");
        check(r#"{"message":"upstream died","code":502}"#, "Transient");
        check(r#"{"message":"key","code":401}"#, "Final(KeyRefused");
        check(r#""something odd""#, "Transient");
    }
}
