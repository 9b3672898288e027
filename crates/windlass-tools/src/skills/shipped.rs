//! The skills that come with Windlass: the folders in `skills/` of the repository, as they were when this was built.

use std::sync::LazyLock;

use super::skill::{SKILL_FILE, Skill, SkillFile};

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        const SHIPPED: &[(&str, &str)] = &[$((
            $name,
            include_str!(concat!("../../../../skills/", $name, "/SKILL.md")),
        )),+];
    };
}

shipped![
    "browser-automation",
    "code-review",
    "data-analysis",
    "debugging",
    "git-history",
    "orchestration-patterns",
    "report-writing",
    "research-methodology",
    "web-research",
    "writing-tests",
];

pub fn shipped() -> &'static [Skill] {
    static READ: LazyLock<Vec<Skill>> = LazyLock::new(read);
    &READ
}

fn read() -> Vec<Skill> {
    let skill = |(name, text): &(&str, &str)| {
        let file = SkillFile { path: SKILL_FILE.to_owned(), bytes: text.as_bytes().to_vec(), is_executable: false };
        Skill::from_files(name, vec![file]).expect("a test reads every shipped skill")
    };
    SHIPPED.iter().map(skill).collect()
}
