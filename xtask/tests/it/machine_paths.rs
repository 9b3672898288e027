//! No folder of one machine anywhere. This file spells such folders out, and is the rule's one exception.

use crate::notation::check;

#[test]
fn folders_of_one_machine_are_found_wherever_they_stand() {
    for line in [
        "/work/main/x",
        "open(\"/work/main\")",
        "see /root/.cargo/bin",
        "path=/home/ada/project",
        "(`/home/ada.l/x`)",
        "{\"cwd\":\"/home/agent/x\",\"was\":\"/home/ada/x\"}",
    ] {
        let text = format!("first\n{line}\n");
        check("machine-paths", &[("docs/page.md", &text)], &["docs/page.md:2: `/"]);
    }
}

#[test]
fn other_paths_are_left_alone() {
    for line in [
        "/workspace/src",
        "src/work/item.rs",
        "../work/x",
        "./root/x",
        "{dir}/work/x",
        "~/work/x",
        "https://example.com/work/x",
        "crates/*/root/x",
        "/home/agent/.config and /home/user/x and /home/you/x",
        "/home/",
        "/rootless/x",
    ] {
        check("machine-paths", &[("docs/page.md", line)], &[]);
    }
}
