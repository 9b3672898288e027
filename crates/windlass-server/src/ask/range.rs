//! `Range`: a part of something whose bytes never change. One part at a time; who asks for several is sent the whole, as RFC 9110 allows.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::header::{ACCEPT_RANGES, CONTENT_RANGE, ETAG, IF_NONE_MATCH, IF_RANGE, RANGE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::tag::names;
use crate::problems::Refusal;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Whole,
    /// From the first byte up to before the second.
    Bytes(usize, usize),
    /// There is no such part.
    None,
}

/// What is asked for of `bytes`, which go by `tag` for ever.
pub fn part_of(method: &Method, headers: &HeaderMap, tag: &str, bytes: Vec<u8>) -> Response {
    let said = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let length = bytes.len();
    if said(IF_NONE_MATCH).is_some_and(|known| names(known, tag)) {
        return with(StatusCode::NOT_MODIFIED, tag, None, Body::empty());
    }
    // Whoever has the beginning of something else is sent all of this.
    let is_meant = *method == Method::GET && said(IF_RANGE).is_none_or(|known| known == tag);
    match said(RANGE).filter(|_| is_meant).map_or(Part::Whole, |range| part(range, length)) {
        Part::Whole => with(StatusCode::OK, tag, None, Body::from(bytes)),
        Part::Bytes(from, to) => {
            let range = format!("bytes {from}-{}/{length}", to - 1);
            with(StatusCode::PARTIAL_CONTENT, tag, Some(range), Body::from(Bytes::from(bytes).slice(from..to)))
        }
        Part::None => {
            let detail = format!("there are {length} bytes, and none of them are in that range");
            let refusal = Refusal::new(StatusCode::RANGE_NOT_SATISFIABLE, "no_such_range", detail);
            let mut response = refusal.into_response();
            ranged(&mut response, &format!("bytes */{length}"));
            response
        }
    }
}

fn with(status: StatusCode, tag: &str, range: Option<String>, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    if let Some(range) = range {
        ranged(&mut response, &range);
    }
    response
}

fn ranged(response: &mut Response, range: &str) {
    if let Ok(range) = HeaderValue::from_str(range) {
        response.headers_mut().insert(CONTENT_RANGE, range);
    }
}

/// What is no range of bytes is not heeded.
fn part(range: &str, length: usize) -> Part {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((from, to)) = range.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Part::Whole;
    };
    let (from, to) = (from.trim(), to.trim());
    if !digits(from) || !digits(to) || from.len() + to.len() == 0 {
        return Part::Whole;
    }
    // A number beyond all bounds is beyond the end.
    let number = |text: &str| text.parse::<usize>().unwrap_or(usize::MAX);
    let (from, to) = match (from, to) {
        ("", last) => (length.saturating_sub(number(last)), length),
        (from, "") => (number(from), length),
        (from, to) if number(to) < number(from) => return Part::Whole,
        (from, to) => (number(from), number(to).saturating_add(1).min(length)),
    };
    if from < to { Part::Bytes(from, to) } else { Part::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_as_the_standard_has_it() {
        let check = |range: &str, expect: Part| assert_eq!(part(range, 10), expect, "{range}");
        check("bytes=0-3", Part::Bytes(0, 4));
        check("bytes=4-", Part::Bytes(4, 10));
        check("bytes=-3", Part::Bytes(7, 10));
        check("bytes=-99", Part::Bytes(0, 10));
        check("bytes=9-99999999999999999999999", Part::Bytes(9, 10));
        check("bytes=10-", Part::None);
        check("bytes=-0", Part::None);
        check("bytes=99999999999999999999999-", Part::None);
        for unheeded in ["bytes=0-1,3-4", "bytes=4-2", "bytes=-", "lines=0-3", "bytes=a-b", "bytes 0-3", "bytes=+1-2"] {
            check(unheeded, Part::Whole);
        }
        assert_eq!(part("bytes=0-", 0), Part::None);
    }

    #[test]
    fn a_part_is_sent_to_whoever_has_the_rest_of_the_same() {
        let check = |said: &[(&'static str, &str)], expect: u16, range: Option<&str>| {
            let mut headers = HeaderMap::new();
            said.iter().for_each(|(name, value)| drop(headers.insert(*name, value.parse().expect("a header"))));
            let response = part_of(&Method::GET, &headers, "\"a\"", b"0123456789".to_vec());
            assert_eq!(response.status().as_u16(), expect, "{said:?}");
            let told = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
            assert_eq!(told, range, "{said:?}");
        };
        let range = ("range", "bytes=2-4");
        check(&[], 200, None);
        check(&[range], 206, Some("bytes 2-4/10"));
        check(&[range, ("if-range", "\"a\"")], 206, Some("bytes 2-4/10"));
        check(&[range, ("if-range", "\"b\"")], 200, None);
        check(&[range, ("if-range", "W/\"a\"")], 200, None);
        check(&[("range", "bytes=10-")], 416, Some("bytes */10"));
        check(&[range, ("if-none-match", "\"a\"")], 304, None);
    }
}
