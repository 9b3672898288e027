//! Sends the console's files. What bears a digest in its name never changes and is kept by browsers; the page is asked for each time.
//! Nothing that the pages show can bring in more than they have: the policy that goes with them allows what is of this server and
//! nothing else.

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::files::{FILES, File, PAGE, file};
use crate::openapi::DOCUMENT;
use crate::problems::Refusal;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; \
                      frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const WITHOUT: &str = include_str!("without.html");
/// The folder of files whose names bear their digests.
const KEPT: &str = "/assets/";
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const NEVER: HeaderValue = HeaderValue::from_static("no-store");
const OWN: [(HeaderName, HeaderValue); 2] = [
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Whether something is asked for that is not the API's, however oddly it is written: what might be meant for the API is never
/// answered with a page.
pub fn is_page(method: &Method, path: &str) -> bool {
    [Method::GET, Method::HEAD].contains(method) && (path == "/" || is_plain(path))
}

fn is_plain(path: &str) -> bool {
    let mut parts = path.split('/').skip(1);
    let is_ours = |first: &str| {
        let is_word = first.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        is_word && !first.eq_ignore_ascii_case("v1") && path != DOCUMENT
    };
    parts.clone().next().is_some_and(is_ours) && parts.all(|part| !["", ".", ".."].contains(&part))
}

/// Whatever no route is for: a file, or the page, which finds out what is wanted; never something in the API's stead.
pub async fn serve(request: Request) -> Response {
    if !is_page(request.method(), request.uri().path()) {
        return Refusal::nothing_there().into_response();
    }
    sent(FILES, request.uri().path(), request.headers())
}

fn sent(files: &[File], path: &str, asked: &HeaderMap) -> Response {
    let page = File { path: PAGE, bytes: WITHOUT.as_bytes(), zipped: None };
    let found = match file(files, path) {
        Some(file) => file,
        None if path.starts_with(KEPT) => return Refusal::nothing_there().into_response(),
        None => file(files, PAGE).unwrap_or(&page),
    };
    let (bytes, is_zipped) = match found.zipped {
        Some(zipped) if reads_gzip(asked) => (zipped, true),
        _ => (found.bytes, false),
    };
    let mut response = Response::new(Body::from(bytes.to_vec()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind(found.path)));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
    headers.insert(CACHE_CONTROL, if found.path.starts_with(KEPT) { FOR_EVER } else { NEVER });
    headers.extend(OWN);
    if is_zipped {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn reads_gzip(asked: &HeaderMap) -> bool {
    let said = asked.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    said.flat_map(|value| value.split(',')).any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        name.trim().eq_ignore_ascii_case("gzip") && !["q=0", "q=0.0", "q=0.00", "q=0.000"].contains(&weight.trim())
    })
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use axum::body::HttpBody as _;

    use super::*;

    const BUILT: &[File] = &[
        File { path: "/assets/a-1.js", bytes: b"a", zipped: Some(b"z") },
        File { path: "/index.html", bytes: b"page", zipped: None },
    ];

    fn header<'a>(response: &'a Response, name: &HeaderName) -> &'a str {
        response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn asking(encoding: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(encoding))])
    }

    #[test]
    fn a_file_with_a_digest_is_kept_and_the_page_is_not() {
        let script = sent(BUILT, "/assets/a-1.js", &asking("br, gzip"));
        assert_eq!(header(&script, &CACHE_CONTROL), "public, max-age=31536000, immutable");
        assert_eq!((header(&script, &CONTENT_ENCODING), header(&script, &VARY)), ("gzip", "accept-encoding"));
        for encoding in ["", "br", "gzip;q=0", "x-gzip"] {
            assert_eq!(header(&sent(BUILT, "/assets/a-1.js", &asking(encoding)), &CONTENT_ENCODING), "", "{encoding}");
        }
        for deep in ["/", "/index.html", "/review/01a1", "/tasks/..%2f", "//elsewhere.example"] {
            let page = sent(BUILT, deep, &HeaderMap::new());
            assert_eq!(header(&page, &CACHE_CONTROL), "no-store", "{deep}");
            assert_eq!(header(&page, &CONTENT_TYPE), "text/html; charset=utf-8", "{deep}");
        }
    }

    #[test]
    fn without_the_pages_every_address_says_what_works_and_how_to_get_them() {
        for path in ["/", "/review/01a1"] {
            let page = sent(&[], path, &HeaderMap::new());
            assert_eq!(page.body().size_hint().exact(), Some(WITHOUT.len() as u64), "{path}");
        }
        let words = WITHOUT.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [
            "Windlass is here, its console is not",
            "Everything else works: the API at <code>/v1</code>",
            "href=\"/openapi.json\"",
            "install Node 20.19 or newer and npm, and build Windlass again with <code>make build</code>",
        ] {
            assert!(words.contains(said), "{said}: {words}");
        }
        // What the pages are built with says so itself.
        assert!(include_str!("../../../../web/package.json").contains("\"node\": \">=20.19\""));
    }

    #[test]
    fn an_old_file_is_not_answered_with_the_page() {
        assert_eq!(sent(BUILT, "/assets/gone.js", &HeaderMap::new()).status(), 404);
    }

    #[test]
    fn every_answer_holds_to_the_policy() {
        for (files, path) in [(BUILT, "/"), (BUILT, "/assets/a-1.js"), (&[], "/"), (&[], "/review")] {
            let answer = sent(files, path, &HeaderMap::new());
            let policy = header(&answer, &CONTENT_SECURITY_POLICY);
            assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{path}: {policy}");
            assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
            assert_eq!((answer.status().as_u16(), header(&answer, &X_FRAME_OPTIONS)), (200, "DENY"), "{path}");
        }
    }

    #[test]
    fn the_api_is_never_answered_with_a_page() {
        let api = ["/v1", "/v1/", "/v1/nothing", "/openapi.json"];
        let oddly = [
            "//v1/tasks",
            "//",
            "/V1/tasks",
            "/v1%2faudit",
            "/%76%31/tasks",
            "/./v1/tasks",
            "/a/../v1",
            "/review/",
            "",
        ];
        for path in api.into_iter().chain(oddly) {
            assert!(!is_page(&Method::GET, path), "{path}");
        }
        assert!(is_page(&Method::GET, "/review/01a1") && is_page(&Method::GET, "/stream/team%3A1"));
        assert!(is_page(&Method::GET, "/") && is_page(&Method::HEAD, "/review") && is_page(&Method::GET, "/v1x"));
        assert!(!is_page(&Method::POST, "/") && !is_page(&Method::DELETE, "/review"));
    }
}
