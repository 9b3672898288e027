//! The patterns that come with Windlass: the documents in `patterns/` of the repository, as they were when this was built.

use std::sync::{Arc, LazyLock};

use windlass_domain::pattern::Pattern;

use super::read::parse_pattern;

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        const SHIPPED: &[&str] = &[$(include_str!(concat!("../../../../patterns/", $name, ".yaml"))),+];
    };
}

shipped!["code_create", "code_modify", "generic", "memory_op", "research", "skill_build"];

/// By name.
pub fn shipped_patterns() -> &'static [Arc<Pattern>] {
    static READ: LazyLock<Vec<Arc<Pattern>>> = LazyLock::new(|| {
        let read = |text: &&str| Arc::new(parse_pattern(text).expect("a test reads every shipped pattern"));
        SHIPPED.iter().map(read).collect()
    });
    &READ
}
