//! The bodies of OTLP's two requests, as its JSON mapping has them: ids in hex, 64-bit numbers as strings.

use serde_json::{Value, json};
use windlass_domain::Wall;

use super::span::Span;
use crate::metric::Kind;
use crate::registry::{Family, Labels, Registry, Sum, Unit};

pub fn traces(spans: &[Span]) -> Value {
    let spans: Vec<_> = spans.iter().map(span).collect();
    json!({"resourceSpans": [{"resource": resource(), "scopeSpans": [{"scope": scope(), "spans": spans}]}]})
}

pub fn metrics(registry: &Registry, since: Wall, now: Wall) -> Value {
    let families = registry.families();
    let metrics: Vec<_> = families.iter().map(|(name, family)| metric(name, family, since, now)).collect();
    json!({"resourceMetrics": [{"resource": resource(), "scopeMetrics": [{"scope": scope(), "metrics": metrics}]}]})
}

fn resource() -> Value {
    json!({"attributes": [attribute("service.name", &json!("windlass")), attribute("service.version", &json!(env!("CARGO_PKG_VERSION")))]})
}

fn scope() -> Value {
    json!({"name": "windlass"})
}

fn span(span: &Span) -> Value {
    let attributes: Vec<_> = span.attributes.iter().map(|(key, value)| attribute(key, value)).collect();
    json!({
        "traceId": span.trace_id, "spanId": span.span_id, "parentSpanId": span.parent_id.as_deref().unwrap_or_default(),
        "name": span.name, "kind": if span.is_client { 3 } else { 1 },
        "startTimeUnixNano": nanos(span.began), "endTimeUnixNano": nanos(span.ended),
        "attributes": attributes, "status": if span.failed { json!({"code": 2}) } else { json!({}) },
    })
}

fn attribute(key: &str, value: &Value) -> Value {
    let value = match value.as_u64() {
        Some(number) => json!({"intValue": number.to_string()}),
        None => json!({"stringValue": value.as_str().unwrap_or_default()}),
    };
    json!({"key": key, "value": value})
}

fn metric(name: &str, family: &Family, since: Wall, now: Wall) -> Value {
    let point = |(labels, sum): (&Labels, &Sum)| {
        let attributes: Vec<_> = labels.iter().map(|(key, value)| attribute(key, &json!(value))).collect();
        let mut point =
            json!({"attributes": attributes, "startTimeUnixNano": nanos(since), "timeUnixNano": nanos(now)});
        match family.kind {
            Kind::Counter | Kind::Gauge => point["asInt"] = json!(sum.value.to_string()),
            Kind::Histogram => {
                point["count"] = json!(sum.count.to_string());
                point["sum"] = json!(family.unit.of(sum.value));
                point["explicitBounds"] = family.bounds.iter().map(|bound| family.unit.of(*bound)).collect();
                point["bucketCounts"] = json!(buckets(sum));
            }
        }
        point
    };
    let points: Vec<_> = family.series.iter().map(point).collect();
    // 2 is cumulative.
    let mut metric = match family.kind {
        Kind::Counter => {
            json!({"name": name, "sum": {"dataPoints": points, "aggregationTemporality": 2, "isMonotonic": true}})
        }
        Kind::Gauge => json!({"name": name, "gauge": {"dataPoints": points}}),
        Kind::Histogram => json!({"name": name, "histogram": {"dataPoints": points, "aggregationTemporality": 2}}),
    };
    match family.unit {
        Unit::Named => {}
        Unit::Tokens => metric["unit"] = json!("{token}"),
        Unit::Seconds => metric["unit"] = json!("s"),
    }
    metric
}

/// How many in each bucket, where the sum knows how many up to each bound.
fn buckets(sum: &Sum) -> Vec<String> {
    let ends = sum.up_to.iter().copied().chain([sum.count]);
    let mut before = 0;
    ends.map(|up_to| (up_to - std::mem::replace(&mut before, up_to)).to_string()).collect()
}

fn nanos(at: Wall) -> String {
    (u128::from(at.as_millis()) * 1_000_000).to_string()
}
