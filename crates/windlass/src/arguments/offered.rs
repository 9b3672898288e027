//! What can be typed about skills and patterns, which agents are offered.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use super::Output;

#[derive(Debug, Subcommand)]
pub enum Skills {
    /// Show every skill that is found, those that are not used, and what is wrong with the rest
    List(SkillsList),
    /// Show one as an agent reads it
    Show(SkillsShow),
    /// Say whether a folder is a skill
    Check(SkillsCheck),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct SkillsList {
    /// The folder that an agent would work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct SkillsShow {
    /// The skill's name
    pub name: String,
    /// The folder that an agent would work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct SkillsCheck {
    /// The folder that holds the SKILL.md
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum Patterns {
    /// Show every pattern that is found, those that are not used, and what is wrong with the rest
    List(PatternsList),
    /// Show one step by step
    Show(PatternsShow),
    /// Say whether a document is a pattern, or everything that is wrong with it
    Check(PatternsCheck),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct PatternsList {
    /// The folder that an agent would work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct PatternsShow {
    /// The pattern's name
    pub name: String,
    /// The folder that an agent would work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct PatternsCheck {
    /// The pattern's document
    pub file: PathBuf,
    #[command(flatten)]
    pub output: Output,
}
