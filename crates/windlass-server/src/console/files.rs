//! What was built of the console when this program was, if anything was.

/// A file of the console's.
#[derive(Debug)]
pub struct File {
    /// By which it is asked for.
    pub path: &'static str,
    pub bytes: &'static [u8],
    /// The same, smaller, by gzip.
    pub zipped: Option<&'static [u8]>,
}

/// In the order of their paths.
pub const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// What is shown at every address that is no file's: the page finds out by itself what is wanted there.
pub const PAGE: &str = "/index.html";

pub fn file<'a>(files: &'a [File], path: &str) -> Option<&'a File> {
    files.iter().find(|file| file.path == path)
}
