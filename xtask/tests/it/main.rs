//! Tests of the repository's rules: each rule against small trees that keep it and small trees that break it, then all of
//! them against this repository, then the set-up script against machines that lack something.

mod arrows;
mod contracts_6;
mod exceptions;
mod index_files;
mod layout;
mod machine_paths;
mod names;
mod notation;
mod paragraphs;
mod permits;
mod repository;
mod setup;
mod single_files;
mod sources;
mod tree;
mod unfinished;
