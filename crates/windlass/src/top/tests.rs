//! The pages without a terminal: what each key does, and how everything looks at 80 columns and at 40.

mod decides;
mod desk;
mod looks;
mod talks;
mod tells;
