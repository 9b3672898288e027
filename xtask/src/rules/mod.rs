//! One rule per file. Each is a function from the tree to its findings and knows nothing of the others.

pub mod arrows;
pub mod changelog;
pub mod index_files;
pub mod layout;
pub mod machine_paths;
pub mod names;
pub mod paragraphs;
pub mod permits;
pub mod prompts;
pub mod size;
pub mod sources;
pub mod unfinished;
