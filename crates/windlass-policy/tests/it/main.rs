//! Redaction and visible text, mostly as properties: what must never come through, and what must come through unchanged.

mod known;
mod ordinary;
mod shapes;
mod streaming;
mod texts;
mod visible;
