//! Folders for tests that open many databases and do not care what kind of disk they are on: memory, where there is such a
//! folder, since a real disk's syncs are most of what such a test would wait for.

pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}
