//! Whether a body or a query keeps to the lengths and bounds that the document has for it. Types alone do not say so much: what is written there for
//! those who ask is what is held here.

use serde_json::Value;
use utoipa::openapi::path::ParameterIn;
use utoipa::{IntoParams, ToSchema};

/// What does not, in words.
pub fn misfit<T: ToSchema>(body: &Value) -> Option<String> {
    let schema = serde_json::to_value(T::schema()).unwrap_or_default();
    let properties = schema["properties"].as_object()?;
    properties.iter().find_map(|(name, schema)| beyond(name, schema, body.get(name)?))
}

/// The same of a query, in which numbers are written as texts are.
pub fn stray<T: IntoParams>(given: &[(String, String)]) -> Option<String> {
    T::into_params(|| Some(ParameterIn::Query)).iter().find_map(|parameter| {
        let (_, text) = given.iter().find(|(name, _)| *name == parameter.name)?;
        let schema = serde_json::to_value(&parameter.schema).unwrap_or_default();
        let number = text.parse::<u64>().ok().filter(|_| schema["maxLength"].is_null());
        beyond(&parameter.name, &schema, &number.map_or_else(|| Value::from(text.as_str()), Value::from))
    })
}

fn beyond(name: &str, schema: &Value, given: &Value) -> Option<String> {
    let bound = |word: &str| schema[word].as_u64();
    let too_many = |count: usize, word: &str| bound(word).filter(|most| count as u64 > *most);
    let too_few = |count: usize, word: &str| bound(word).filter(|least| (count as u64) < *least);
    match given {
        Value::String(text) => {
            let length = text.chars().count();
            too_many(length, "maxLength").map(|most| format!("`{name}` has more than {most} characters")).or_else(
                || too_few(length, "minLength").map(|least| format!("`{name}` has fewer than {least} characters")),
            )
        }
        Value::Array(items) => too_many(items.len(), "maxItems")
            .map(|most| format!("`{name}` has more than {most} items"))
            .or_else(|| items.iter().find_map(|item| beyond(name, &schema["items"], item))),
        Value::Number(number) => {
            let (least, most) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
            let number = number.as_f64()?;
            let is_beyond = least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most);
            is_beyond.then(|| match (least, most) {
                (Some(least), Some(most)) => format!("`{name}` must be between {least} and {most}"),
                (Some(least), None) => format!("`{name}` must be {least} or more"),
                (None, most) => format!("`{name}` must be {} or less", most.unwrap_or_default()),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_api::{ApproveRequest, SayRequest, WishRequest};

    use super::*;
    use crate::ask::PageQuery;

    #[test]
    fn a_query_is_held_to_it_as_well() {
        let check = |name: &str, text: &str, expected: Option<&str>| {
            assert_eq!(stray::<PageQuery>(&[(name.to_owned(), text.to_owned())]).as_deref(), expected, "{name}={text}");
        };
        check("limit", "500", None);
        check("limit", "501", Some("`limit` must be between 1 and 500"));
        check("limit", "0", Some("`limit` must be between 1 and 500"));
        check("cursor", &"9".repeat(200), None);
        check("cursor", &"9".repeat(201), Some("`cursor` has more than 200 characters"));
        check("nobody", &"9".repeat(201), None);
    }

    #[test]
    fn what_the_document_says_is_held() {
        let check = |found: Option<String>, expected: Option<&str>| assert_eq!(found.as_deref(), expected);
        check(misfit::<WishRequest>(&json!({"reason": "é".repeat(1_000)})), None);
        check(
            misfit::<WishRequest>(&json!({"reason": "é".repeat(1_001)})),
            Some("`reason` has more than 1000 characters"),
        );
        check(misfit::<SayRequest>(&json!({"message": "hello", "user_id": null})), None);
        check(
            misfit::<SayRequest>(&json!({"message": "hello", "user_id": ""})),
            Some("`user_id` has fewer than 1 characters"),
        );
        let many = vec!["one"; 51];
        check(misfit::<ApproveRequest>(&json!({"conditions": many})), Some("`conditions` has more than 50 items"));
    }
}
