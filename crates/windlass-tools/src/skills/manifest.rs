//! The front matter of a `SKILL.md`: what the skill is called and what it is for. Fields that others may add are passed over.

use serde::Deserialize;

/// The folder's whole description in YAML, at most.
const MAX_FRONT_MATTER: usize = 8 * 1024;
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1_024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    pub name: String,
    /// On one line.
    pub description: String,
    pub needs: Vec<String>,
}

#[derive(Deserialize)]
struct FrontMatter {
    name: Option<String>,
    description: Option<String>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Metadata {
    /// The tools without which the skill is of no use, parted by spaces. Ours; others pass it over.
    #[serde(rename = "needs-tools")]
    needs_tools: Option<String>,
}

impl Manifest {
    /// `folder` is the name of the skill's folder, which must be the skill's own.
    pub fn read(text: &str, folder: &str) -> Result<Self, String> {
        let yaml = front_matter(text)?;
        // Aliases are what bombs are made of, and nobody needs them here.
        let budget = serde_saphyr::budget! { max_aliases: 0, max_anchors: 0, max_events: 2_000 };
        let options = serde_saphyr::options! { budget: budget };
        let read = serde_saphyr::from_str_with_options(yaml, options);
        let FrontMatter { name, description, metadata } = read.map_err(|error| {
            let said = error.to_string();
            format!("its front matter cannot be read ({}); it needs `name` and `description`", first_line(&said))
        })?;
        let name = name.ok_or("its front matter has no `name`")?;
        check_name(&name)?;
        if name != folder {
            return Err(format!(
                "its front matter says `name: {name}`, but its folder is called `{folder}`; they must agree"
            ));
        }
        let description = description.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        match description.chars().count() {
            0 => return Err("its front matter has no `description`; say what it is for and when to use it".to_owned()),
            1..=LONGEST_DESCRIPTION => {}
            long => {
                return Err(format!("its `description` has {long} letters; at most {LONGEST_DESCRIPTION} are read"));
            }
        }
        let needs = metadata.and_then(|metadata| metadata.needs_tools).unwrap_or_default();
        let needs = needs.split_whitespace().map(str::to_owned).collect();
        Ok(Self { name, description, needs })
    }
}

fn front_matter(text: &str) -> Result<&str, String> {
    let missing =
        || "it does not begin with front matter: a line `---`, `name` and `description`, and a line `---`".to_owned();
    let text = text.trim_start_matches('\u{feff}');
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")).ok_or_else(missing)?;
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok(&rest[..end]);
        }
        end += line.len();
        if end > MAX_FRONT_MATTER {
            return Err(format!("its front matter is larger than {} KiB", MAX_FRONT_MATTER / 1024));
        }
    }
    Err(missing())
}

/// As the Agent Skills format has it. A name is also a folder's, hence nothing that leads elsewhere.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let fits = (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_plain);
    if fits && !name.starts_with('-') && !name.ends_with('-') && !name.contains("--") {
        return Ok(());
    }
    let shown: String = name.escape_debug().take(LONGEST_NAME).collect();
    Err(format!("`{shown}` is no name for a skill: up to {LONGEST_NAME} small letters, digits and single dashes"))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, folder: &str) -> String {
        Manifest::read(text, folder).expect_err(text)
    }

    #[test]
    fn name_and_description_are_read_and_other_fields_passed_over() {
        let text = "---\nname: pdf\ndescription: >\n  Read\n  PDF files.\nlicense: MIT\nallowed-tools: bash\nmetadata:\n  needs-tools: browser web_fetch\n  author: me\n  version: 1.0\n  more: {a: [1]}\n---\n# Body\n";
        let manifest = Manifest::read(text, "pdf").expect("a skill");
        assert_eq!((manifest.name.as_str(), manifest.description.as_str()), ("pdf", "Read PDF files."));
        assert_eq!(manifest.needs, ["browser", "web_fetch"]);
        assert!(Manifest::read("\u{feff}---\r\nname: a\r\ndescription: b\r\n---\r\n", "a").is_ok());
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(refused("# No front matter", "a").contains("does not begin with front matter"));
        assert!(refused("---\nname: a\ndescription: b\n", "a").contains("does not begin with front matter"));
        assert!(refused("---\ndescription: b\n---\n", "a").contains("no `name`"));
        assert!(refused("---\nname: a\n---\n", "a").contains("no `description`"));
        assert!(refused("---\nname: a\ndescription: '  '\n---\n", "a").contains("no `description`"));
        assert!(refused("---\nname: a\ndescription: b\n---\n", "other").contains("they must agree"));
        assert!(refused("---\nname: [a\n---\n", "a").contains("cannot be read"));
        assert!(refused("---\njust words\n---\n", "a").contains("cannot be read"));
        let long = format!("---\nname: a\ndescription: {}\n---\n", "x".repeat(2_000));
        assert!(refused(&long, "a").contains("2000 letters"));
        let huge = format!("---\nname: a\nx: {}\n---\n", "x\n ".repeat(5_000));
        assert!(refused(&huge, "a").contains("larger than 8 KiB"));
    }

    #[test]
    fn a_name_is_nothing_but_a_name() {
        for name in ["", "..", ".", "a/b", "A", "a b", "-a", "a-", "a--b", "a\n", "é", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        for name in ["a", "web-research", "x2", &"x".repeat(64)] {
            assert!(check_name(name).is_ok(), "{name:?}");
        }
    }

    /// Nine aliases of nine aliases and so on: a kilobyte that would be gigabytes.
    #[test]
    fn a_bomb_does_not_go_off() {
        let mut yaml = String::from("a0: &a0 boom\n");
        for level in 1..=20 {
            let nine = vec![format!("*a{}", level - 1); 9].join(", ");
            yaml.push_str(&format!("a{level}: &a{level} [{nine}]\n"));
        }
        let text = format!("---\n{yaml}metadata: *a20\nname: a\ndescription: b\n---\n");
        assert!(refused(&text, "a").contains("cannot be read"));
    }
}
