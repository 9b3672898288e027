//! The document at `/openapi.json`, gathered from the routes themselves: what is not described cannot be asked.

use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, Info, OpenApi, OpenApiBuilder, RefOr, Required};
use utoipa::{PartialSchema as _, ToSchema as _};
use windlass_api::Problem;
use windlass_domain::record_kinds;

use crate::ask::{KEY, LONGEST_KEY, keeps_answers};

pub const DOCUMENT: &str = "/openapi.json";
pub const BEARER: &str = "bearer";
/// By a path that is a secret, and a signature.
pub const HOOK: &str = "hook";

/// All of it, as it is served; beside the routes the kinds of records, so that whoever tells of them can have words for each.
pub fn document() -> OpenApi {
    let mut document = crate::routes::routes().to_openapi();
    say_of_keys(&mut document);
    let kinds = ExtensionsBuilder::new().add("x-record-kinds", record_kinds()).build();
    document.extensions.get_or_insert_default().merge(kinds);
    document
}

/// Whatever is posted may bear a key, but for that of which no answer is kept.
fn say_of_keys(document: &mut OpenApi) {
    let posted = document.paths.paths.iter_mut().filter(|(path, _)| keeps_answers(path));
    for operation in posted.filter_map(|(_, item)| item.post.as_mut()) {
        operation.parameters.get_or_insert_default().push(RefOr::T(key()));
    }
}

fn key() -> Parameter {
    let words = "The same request under the same key is heard once: again, it gets the first answer and `Idempotency-Replayed: true`. \
                 What broke here (5xx) is not kept, and may be asked again under the same key.";
    let text = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(LONGEST_KEY));
    ParameterBuilder::new()
        .name(KEY.as_str())
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(words))
        .schema(Some(text))
        .build()
}

/// What stands in it before any route is added.
pub fn cover() -> OpenApi {
    let mut info = Info::new("Windlass", env!("CARGO_PKG_VERSION"));
    info.description = Some(
        "A durable runtime for autonomous agents. Everything but health and this document needs `Authorization: Bearer TOKEN`; \
         what goes wrong is told as problem+json (RFC 9457)."
            .to_owned(),
    );
    let mut components = Components::new();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.schemas.insert(Problem::name().into_owned(), Problem::schema());
    components.add_security_scheme(BEARER, SecurityScheme::Http(bearer));
    let signed = "`sha256=` and the HMAC-SHA256 of the body, in hexadecimal digits, by the key of whoever is known by this path.";
    let signature = ApiKeyValue::with_description("X-Hub-Signature-256", signed);
    components.add_security_scheme(HOOK, SecurityScheme::ApiKey(ApiKey::Header(signature)));
    OpenApiBuilder::new().info(info).components(Some(components)).build()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn whatever_is_posted_may_bear_a_key_and_nothing_else() {
        let document = json!(document());
        let bears_key = |operation: &Value| {
            let named = operation["parameters"].as_array().into_iter().flatten();
            named.filter(|parameter| parameter["name"] == KEY.as_str()).count()
        };
        let mut posted = 0;
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("operations") {
                let is_kept = method == "post" && keeps_answers(path);
                assert_eq!(bears_key(operation), usize::from(is_kept), "{method} {path}");
                posted += usize::from(is_kept);
            }
        }
        assert!(posted > 10, "{posted}");
    }
}
