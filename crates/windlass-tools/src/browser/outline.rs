//! A page in words: its text, and below it what can be followed, filled in and pressed, each with the selector to do it by.

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outline {
    pub url: String,
    pub title: String,
    /// Of the answer, 0 where there was none.
    pub status: u16,
    text: String,
    is_cut: bool,
    links: Vec<Link>,
    more_links: usize,
    fields: Vec<Field>,
    more_fields: usize,
    forms: Vec<Form>,
    frames: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Link {
    label: String,
    url: String,
    selector: String,
}

#[derive(Debug, Deserialize)]
struct Field {
    kind: String,
    label: String,
    selector: String,
    form: Option<String>,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    options: Vec<String>,
    disabled: bool,
    required: bool,
    submits: bool,
}

#[derive(Debug, Deserialize)]
struct Form {
    selector: String,
    method: String,
    action: String,
}

impl Outline {
    /// Where it is, in the lines that every answer begins with.
    pub fn heading(&self) -> String {
        let Self { url, title, status, .. } = self;
        let title = if title.is_empty() { String::new() } else { format!("\nTitle: {title}") };
        let status = if *status == 0 { String::new() } else { format!("\nStatus: {status}") };
        format!("URL: {url}{title}{status}")
    }

    pub fn body(&self) -> String {
        let mut lines = Vec::new();
        if self.is_cut {
            lines.push("[it is longer; this is its beginning]".to_owned());
        }
        lines.push(if self.text.is_empty() { "(no text)".to_owned() } else { self.text.clone() });
        self.list(&mut lines, "Links", self.links.iter().map(Link::line).collect(), self.more_links);
        let free = self.fields.iter().filter(|field| field.form.is_none()).map(Field::line).collect();
        let in_forms = self.forms.iter().flat_map(|form| form.lines(&self.fields)).collect();
        self.list(&mut lines, "Forms", in_forms, self.more_fields);
        self.list(&mut lines, "Fields and buttons outside of forms", free, 0);
        let frames = self.frames.iter().map(|url| format!("- {url}")).collect();
        self.list(&mut lines, "Frames, whose content is not shown here (navigate to one to see it)", frames, 0);
        lines.join("\n")
    }

    fn list(&self, lines: &mut Vec<String>, title: &str, items: Vec<String>, more: usize) {
        if items.is_empty() {
            return;
        }
        lines.push(format!("\n{title}:"));
        lines.extend(items);
        if more > 0 {
            lines.push(format!("- (and {more} more)"));
        }
    }
}

impl Link {
    fn line(&self) -> String {
        let Self { label, url, selector } = self;
        format!("- {} → {url}  `{selector}`", if label.is_empty() { "(no words)" } else { label })
    }
}

impl Form {
    fn lines(&self, fields: &[Field]) -> Vec<String> {
        let Self { selector, method, action } = self;
        let mut lines = vec![format!("- form `{selector}`: {} {action}", method.to_uppercase())];
        let own = fields.iter().filter(|field| field.form.as_ref() == Some(selector));
        lines.extend(own.map(|field| format!("  {}", field.line())));
        lines
    }
}

impl Field {
    fn line(&self) -> String {
        let Self { kind, label, selector, value, options, disabled, required, submits, .. } = self;
        let mut line = format!("- {kind}");
        if !label.is_empty() {
            line.push_str(&format!(" \"{label}\""));
        }
        if let Some(value) = value {
            line.push_str(&format!(" = \"{value}\""));
        }
        if !options.is_empty() {
            line.push_str(&format!(", one of: {}", options.join(" | ")));
        }
        let marks = [(*required, "required"), (*disabled, "disabled"), (*submits, "submits the form")];
        for (_, mark) in marks.iter().filter(|(is_so, _)| *is_so) {
            line.push_str(&format!(", {mark}"));
        }
        format!("{line}  `{selector}`")
    }
}
