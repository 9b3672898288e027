//! Pattern documents (contracts §8): `patterns/<name>.yaml` into a `Pattern`, and those that come with Windlass.

mod condition;
mod read;
mod shipped;

pub use read::parse_pattern;
pub use shipped::shipped_patterns;
