//! Which refusals a route can answer with. What stands before every route (who asks, how often, what a body and a name may be, a key that is
//! heard once) answers for all of them alike, by what a route takes; the document says so here, once. What is a route's own stands in its
//! own description. There is no answer "otherwise": one that the document does not have is a mistake of ours.

use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{ContentBuilder, OpenApi, PathItem, Ref, Response, ResponseBuilder};
use utoipa::{ToSchema as _, openapi::RefOr};
use windlass_api::{PROBLEM_JSON, Problem};

use crate::problems::Problems;

pub fn describe(document: &mut OpenApi) {
    for (path, item) in &mut document.paths.paths {
        for (method, operation) in operations(item) {
            for status in refusals(path, method, operation) {
                let answers = &mut operation.responses.responses;
                answers.entry(status.to_string()).or_insert_with(|| RefOr::T(Problems::answer(status)));
            }
            if is_tagged(method, operation) {
                let known = ResponseBuilder::new().description("It is what one has.").build();
                operation.responses.responses.entry("304".to_owned()).or_insert_with(|| RefOr::T(known));
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Post,
    Delete,
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    let all = [(Method::Get, &mut item.get), (Method::Post, &mut item.post), (Method::Delete, &mut item.delete)];
    all.into_iter().filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// Every route is refused to a page of another server; only what is guarded can be refused otherwise.
fn refusals(path: &str, method: Method, operation: &Operation) -> Vec<u16> {
    let mut refusals = vec![403];
    if !is_guarded(operation) {
        return refusals;
    }
    let mut parameters = operation.parameters.iter().flatten();
    let asks = parameters.any(|parameter| matches!(parameter, RefOr::T(one) if one.parameter_in == ParameterIn::Query));
    refusals.extend([401, 429, 500, 503, 507]);
    if path.contains('{') {
        refusals.extend([400, 404]);
    }
    if asks {
        refusals.push(400);
    }
    match method {
        Method::Get => {}
        // A key that is heard once is read with the body, and may be another request's or one that has no answer yet.
        Method::Post => refusals.extend([400, 408, 409, 413, 422]),
        Method::Delete => refusals.push(409),
    }
    if operation.request_body.is_some() {
        refusals.push(415);
    }
    refusals
}

/// An empty requirement is the document's word for none.
fn is_guarded(operation: &Operation) -> bool {
    let needed = serde_json::to_value(&operation.security).unwrap_or_default();
    needed[0].as_object().is_some_and(|needed| !needed.is_empty())
}

/// What is read as JSON bears a tag, and whoever has it already is told so.
fn is_tagged(method: Method, operation: &Operation) -> bool {
    let read = operation.responses.responses.get("200");
    let is_json = |response: &RefOr<Response>| matches!(response, RefOr::T(response) if response.content.contains_key("application/json"));
    method == Method::Get && read.is_some_and(is_json)
}

impl Problems {
    pub fn answer(status: u16) -> Response {
        let schema = Ref::from_schema_name(Problem::name());
        let content = ContentBuilder::new().schema(Some(schema)).build();
        ResponseBuilder::new().description(words(status)).content(PROBLEM_JSON, content).build()
    }
}

const fn words(status: u16) -> &'static str {
    match status {
        400 => "It cannot be read.",
        401 => "It needs a token.",
        403 => "This token may not, or a page of another server asks.",
        404 => "There is no such thing.",
        408 => "The body did not come in time.",
        409 => "Not as things stand, or it was asked before and has no answer yet.",
        413 => "The body is too long.",
        415 => "The body must be JSON.",
        422 => "It cannot be had so.",
        429 => "Too often, or too much at once.",
        500 => "Something broke here.",
        503 => "The store does not answer; ask again in a while.",
        507 => "There is too little room on the server's disk.",
        _ => "It cannot be done.",
    }
}

#[cfg(test)]
mod tests {
    use crate::openapi::document;

    fn answers(path: &str, method: &str) -> Vec<String> {
        let document = serde_json::to_value(document()).unwrap();
        let answers = document["paths"][path][method]["responses"].as_object().unwrap();
        answers.keys().cloned().collect()
    }

    #[test]
    fn every_route_says_all_of_its_answers_and_none_says_otherwise() {
        let document = serde_json::to_value(document()).unwrap();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let answers = operation["responses"].as_object().unwrap();
                assert!(!answers.contains_key("default"), "{method} {path}");
                assert!(answers.keys().any(|status| status.starts_with('2') || status == "101"), "{method} {path}");
            }
        }
    }

    #[test]
    fn answers_go_by_what_a_route_takes() {
        assert_eq!(answers("/v1/health", "get"), ["200", "304", "403", "503"]);
        assert_eq!(answers("/v1/tasks", "get"), ["200", "304", "400", "401", "403", "429", "500", "503", "507"]);
        let (posted, deleted) = (answers("/v1/tasks", "post"), answers("/v1/schedules/{goal}", "delete"));
        assert_eq!(posted, ["202", "400", "401", "403", "408", "409", "413", "415", "422", "429", "500", "503", "507"]);
        assert_eq!(deleted, ["200", "400", "401", "403", "404", "409", "429", "500", "503", "507"]);
    }
}
