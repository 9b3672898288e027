//! What a killed process leaves behind stays as it is: no destructor of it may tidy up. While it is taken apart, the folder
//! that it works in goes by another name, so that what its values remove or release on their way out is not found.

use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct Curtain {
    folder: PathBuf,
}

impl Curtain {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub fn draw(&self) {
        std::fs::rename(&self.folder, self.away()).expect("the folder of the world is there");
    }

    pub fn lift(&self) {
        // Whatever was made there meanwhile was made by the dead.
        let _none = std::fs::remove_dir_all(&self.folder);
        std::fs::rename(self.away(), &self.folder).expect("the curtain was drawn");
    }

    fn away(&self) -> PathBuf {
        self.folder.with_extension("away")
    }
}
