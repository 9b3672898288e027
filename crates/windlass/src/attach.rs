//! `--attach FILE`: text and pictures that stand beside the goal. What the model could not be shown is refused here, before
//! there is a task. For a server they are read where the command is typed, and judged once more where the task is taken in.

use std::path::{Path, PathBuf};

use windlass_api::AttachmentRequest;
use windlass_domain::Image;
use windlass_engine::Attached;
use windlass_llm::{LARGEST_IMAGE, MOST_IMAGES, Model, base64, from_base64};
use windlass_policy::visible_line;

use crate::exit::WrongUse;
use crate::text_file::read_bytes;

/// All of it is in every request.
const LONGEST_TEXT: usize = 256 << 10;
/// As of a file.
const LONGEST_NAME: usize = 255;

/// Something that is to stand beside the goal.
#[derive(Debug, Clone)]
pub enum Attachment {
    /// A file of this machine's.
    File(PathBuf),
    /// What somebody elsewhere has sent.
    Sent(AttachmentRequest),
}

/// What they hold, for the model of this name.
pub fn attached(attachments: &[Attachment], name: &str, model: &Model) -> Result<Vec<Attached>, WrongUse> {
    let read = attachments.iter().map(|attachment| match attachment {
        Attachment::File(file) => read(file),
        Attachment::Sent(sent) => received(sent),
    });
    let attached = read.collect::<Result<Vec<_>, _>>()?;
    let pictures = attached.iter().filter(|attached| matches!(attached, Attached::Picture { .. })).count();
    if pictures > 0 && !model.vision {
        return Err(WrongUse::new(format!("the model `{name}` cannot see images, as far as is known here"))
            .hint("leave the image out, or say `vision = true` of the model in models.toml"));
    }
    if pictures > MOST_IMAGES {
        return Err(WrongUse::new(format!(
            "--attach: {pictures} images are more than the {MOST_IMAGES} that can be sent"
        )));
    }
    Ok(attached)
}

/// As they are sent to a server.
pub fn to_send(files: &[PathBuf]) -> Result<Vec<AttachmentRequest>, WrongUse> {
    let sent = files.iter().map(|file| {
        let (name, bytes) = match read(file)? {
            Attached::Text { name, text } => (name, text.into_bytes()),
            Attached::Picture { name, bytes } => (name, bytes),
        };
        let mut letters = Vec::new();
        base64(&mut letters, &bytes);
        let content = String::from_utf8(letters).expect("its letters are all ASCII");
        Ok(AttachmentRequest { name, content })
    });
    sent.collect()
}

fn received(AttachmentRequest { name, content }: &AttachmentRequest) -> Result<Attached, WrongUse> {
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        return Err(WrongUse::new(format!("an attachment's name has 1 to {LONGEST_NAME} characters")));
    }
    if visible_line(name) != name.as_str() {
        return Err(WrongUse::new("an attachment's name has characters that cannot be seen").hint("call it otherwise"));
    }
    match from_base64(content.as_bytes()) {
        Some(bytes) => judged(name, name.clone(), bytes),
        None => Err(WrongUse::new(format!("--attach {name}: its `content` is no base64"))),
    }
}

fn read(file: &Path) -> Result<Attached, WrongUse> {
    let shown = file.display().to_string();
    let bytes = read_bytes(file).map_err(|error| WrongUse::new(format!("--attach {shown}: {error}")))?;
    judged(&shown, file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned(), bytes)
}

fn judged(shown: &str, name: String, bytes: Vec<u8>) -> Result<Attached, WrongUse> {
    let wrong = |what: String| WrongUse::new(format!("--attach {shown}: {what}"));
    if Image::is_one(&bytes) {
        if bytes.len() > LARGEST_IMAGE {
            return Err(wrong(format!("the image is larger than {LARGEST_IMAGE} bytes")).hint("make it smaller"));
        }
        return Ok(Attached::Picture { name, bytes });
    }
    if bytes.len() > LONGEST_TEXT {
        return Err(wrong(format!("it is longer than {} KiB", LONGEST_TEXT >> 10))
            .hint("put it into the workspace, where the agent can read it page by page"));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        wrong("it is neither UTF-8 text nor a whole PNG, JPEG, GIF or WebP image".to_owned())
            .hint("put it into the workspace, where the agent can look at it")
    })?;
    Ok(Attached::Text { name, text })
}
