//! Makes a table of the console's files, for the program to hold: what is built in `web/dist/console`, or none, where nobody has built it.
//! A file beside which there is one of the same name with `.gz` is sent as that to whoever reads it. All are copied to where the compiler
//! looks, so that the console may be built anew meanwhile.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script where things are in the environment")]
fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let dist = here.join("../../web/dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    println!("cargo::rerun-if-changed=build.rs");
    let built = dist.join("console");
    let mut files = Vec::new();
    if built.is_dir() {
        gather(&built.canonicalize()?, "", &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::create_dir_all(out.join("console"))?;
    for (index, (path, file)) in files.iter().enumerate() {
        let copied = |from: &Path, name: String| -> io::Result<String> {
            fs::write(out.join("console").join(&name), fs::read(from)?)?;
            Ok(format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/console/{name}\"))"))
        };
        let bytes = copied(file, index.to_string())?;
        let zipped = PathBuf::from(format!("{}.gz", file.display()));
        let zipped = match zipped.is_file() {
            true => format!("Some({})", copied(&zipped, format!("{index}.gz"))?),
            false => "None".to_owned(),
        };
        writeln!(table, "    File {{ path: {path:?}, bytes: {bytes}, zipped: {zipped} }},")
            .map_err(io::Error::other)?;
    }
    table.push_str("]\n");
    fs::write(out.join("console.rs"), table)
}

/// Every file below a folder, with the path that it is asked for by.
fn gather(folder: &Path, at: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{at}/{name}");
        if entry.file_type()?.is_dir() {
            gather(&entry.path(), &path, files)?;
        } else if !name.ends_with(".gz") {
            files.push((path, entry.path()));
        }
    }
    Ok(())
}
