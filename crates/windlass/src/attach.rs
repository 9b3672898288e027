//! `--attach FILE`: text and pictures that stand beside the goal. What the model could not be shown is refused here, before
//! there is a task.

use std::path::{Path, PathBuf};

use windlass_domain::Image;
use windlass_engine::Attached;
use windlass_llm::{LARGEST_IMAGE, MOST_IMAGES, Model};

use crate::exit::WrongUse;
use crate::text_file::read_bytes;

/// All of it is in every request.
const LONGEST_TEXT: usize = 256 << 10;

/// The files, for the model of this name.
pub fn attached(files: &[PathBuf], name: &str, model: &Model) -> Result<Vec<Attached>, WrongUse> {
    let attached = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
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

fn read(file: &Path) -> Result<Attached, WrongUse> {
    let wrong = |what: String| WrongUse::new(format!("--attach {}: {what}", file.display()));
    let bytes = read_bytes(file).map_err(|error| wrong(error.to_string()))?;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
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
