//! Variables that programs obey, and what a command can learn of the environment it was started in.

use std::process::Command;

use super::trial::{Attack, audited, cards, is_unharmed, parks, put_data, scene, try_all};

const POISON: &str = "[shell]\npoison = \"medium\"\n";

#[test]
fn variables_that_make_programs_run_others() {
    try_all(&[
        parks("BASH_ENV=./evil.sh bash harmless.sh", POISON, "LANG=C bash harmless.sh"),
        parks("env SHELLOPTS=xtrace PS4='$(touch marker)' bash harmless.sh", POISON, "env LANG=C bash harmless.sh"),
        parks(
            "GIT_SSH_COMMAND='touch /workspace/marker;' git ls-remote ssh://example.org/x",
            POISON,
            "LANG=C git --version > made",
        ),
        parks(
            "echo 'system q(touch marker); 1' > M.pm; PERL5OPT='-I. -MM' perl harmless.pl",
            POISON,
            "LANG=C perl harmless.pl > made",
        ),
        parks(
            "printf '[alias]\\nx = !touch /workspace/marker\\n' > .gitconfig; HOME=/workspace git x",
            POISON,
            "echo $HOME > made",
        ),
        parks(
            "set -a; : ${BASH_ENV:=./evil.sh}; bash harmless.sh",
            POISON,
            "set -a; : ${A:=./evil.sh}; bash harmless.sh",
        ),
    ]);
}

#[test]
fn a_library_that_is_loaded_first() {
    const LIBRARY: &str = "#include <fcntl.h>\n__attribute__((constructor)) static void f(void) { creat(\"/workspace/marker\", 0600); }\n";
    const ATTACK: Attack = parks("LD_PRELOAD=/workspace/evil.so /bin/ls", POISON, "/bin/ls > made");
    let play = |risk: &str| {
        let home = scene(ATTACK.command);
        put_data(&home, "risk.toml", risk);
        home.write("evil.c", LIBRARY);
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o", "evil.so", "evil.c"]).current_dir(home.workspace());
        assert!(compiler.status().expect("a C compiler").success());
        (home.run(&[]).run().code(), home)
    };
    let (code, home) = play("");
    assert_eq!((code, is_unharmed(&home), cards(&home).len()), (3, true, 1));
    let (code, home) = play(ATTACK.lowered);
    assert_eq!((code, is_unharmed(&home)), (0, false), "with the defence off it is loaded");
}

/// Asking is one wall; that there is nothing to be read is another.
#[test]
fn the_environment_of_another_process() {
    const READ: &str =
        "cat /proc/1/environ /proc/self/environ > marker; cd /proc/1 && cat environ >> /workspace/marker";
    let home = scene(READ);
    home.run(&[]).env("OPENAI_API_KEY", "sk-operator-0123456789").env("OTHER", "operators own").run().expect(3);
    assert!(is_unharmed(&home));
    let home = scene(READ);
    put_data(&home, "risk.toml", "[shell]\nsensitive_level = \"medium\"\n");
    home.run(&[]).env("OPENAI_API_KEY", "sk-operator-0123456789").env("OTHER", "operators own").run().expect(0);
    let read = home.read("marker");
    assert!(read.contains("PATH="), "it was read: {read}");
    assert!(!read.contains("operator"), "the operator's environment does not reach the sandbox: {read}");
    let home = scene("env > made");
    home.run(&[]).env("OTHER", "operators own").run().expect(0);
    assert!(home.read("made").contains("PATH=") && audited(&home, "gate_block").is_empty());
}
