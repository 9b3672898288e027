//! The text format 0.0.4 of Prometheus. Dots of names and labels become underscores, and nothing else is changed about them.

use std::fmt::Write as _;

use crate::metric::Kind;
use crate::registry::{Family, Labels, Registry, Sum};

pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Registry {
    pub fn to_prometheus(&self) -> String {
        let mut text = String::new();
        for (name, family) in self.families() {
            write_family(&mut text, &name.replace('.', "_"), &family).expect("a string takes what is written");
        }
        text
    }
}

fn write_family(text: &mut String, name: &str, family: &Family) -> std::fmt::Result {
    let kind = match family.kind {
        Kind::Counter => "counter",
        Kind::Histogram => "histogram",
        Kind::Gauge => "gauge",
    };
    writeln!(text, "# TYPE {name} {kind}")?;
    for (labels, sum) in &family.series {
        match family.kind {
            Kind::Counter | Kind::Gauge => writeln!(text, "{name}{} {}", braced(labels, None), sum.value)?,
            Kind::Histogram => write_histogram(text, name, labels, sum, family)?,
        }
    }
    Ok(())
}

fn write_histogram(text: &mut String, name: &str, labels: &Labels, sum: &Sum, family: &Family) -> std::fmt::Result {
    for (bound, up_to) in family.bounds.iter().zip(&sum.up_to) {
        writeln!(text, "{name}_bucket{} {up_to}", braced(labels, Some(&family.unit.of(*bound).to_string())))?;
    }
    writeln!(text, "{name}_bucket{} {}", braced(labels, Some("+Inf")), sum.count)?;
    writeln!(text, "{name}_sum{} {}", braced(labels, None), family.unit.of(sum.value))?;
    writeln!(text, "{name}_count{} {}", braced(labels, None), sum.count)
}

fn braced(labels: &Labels, bound: Option<&str>) -> String {
    let labels = labels.iter().map(|(label, value)| format!("{}=\"{}\"", label.replace('.', "_"), escaped(value)));
    let all: Vec<_> = labels.chain(bound.map(|bound| format!("le=\"{bound}\""))).collect();
    if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
}

/// The format has three escapes; other controls have no business in a label.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            control if control.is_control() => text.push('\u{fffd}'),
            other => text.push(other),
        }
    }
    text
}
