//! Whether a body keeps to the lengths and bounds that the document has for it. Types alone do not say so much: what is written there for
//! those who ask is what is held here.

use serde_json::Value;
use utoipa::ToSchema;

/// What does not, in words.
pub fn misfit<T: ToSchema>(body: &Value) -> Option<String> {
    let schema = serde_json::to_value(T::schema()).unwrap_or_default();
    let properties = schema["properties"].as_object()?;
    properties.iter().find_map(|(name, schema)| beyond(name, schema, body.get(name)?))
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
            is_beyond.then(|| format!("`{name}` is out of bounds"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_api::{ApproveRequest, SayRequest, WishRequest};

    use super::*;

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
