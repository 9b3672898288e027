//! Commands that hide what they do: behind an allowed head, a wrapper, a spelling, a small language or an option.

use super::trial::{parks, refused, try_all};

const RM: &str = "[program.rm]\nlevel = \"medium\"\n";
const RM_PARTED: &str = "[shell]\ndynamic = \"medium\"\n[program.rm]\nlevel = \"medium\"\n";
const CODE: &str = "[shell]\ncode = \"medium\"\n";
const DYNAMIC: &str = "[shell]\ndynamic = \"medium\"\n";
const POISON: &str = "[shell]\npoison = \"medium\"\n";
const FIND: &str = "[program.find]\nlevel = \"medium\"\n";

#[test]
fn a_sub_command_in_the_arguments_of_another() {
    try_all(&[
        parks("echo $(rm -r victim)", RM, "echo $(date) > made"),
        parks("rg -n \"`rm -r victim`\" .", RM, "echo \"`pwd`\" > made"),
        parks("cat <(rm -r victim)", RM, "cat <(ls) > made"),
        parks("echo \"${x:-$(rm -r victim)}\"", RM, "echo \"${x:-$(pwd)}\" > made"),
        parks("echo ok > made && rm -r victim", RM, "echo ok && ls > made"),
        parks(
            "echo ok > >(rm -r victim); wait $!",
            "[shell]\noutside = \"medium\"\n[program.rm]\nlevel = \"medium\"\n",
            "echo ok | tee made",
        ),
    ]);
}

#[test]
fn spellings() {
    try_all(&[
        parks("rm$IFS-r${IFS}victim", RM_PARTED, "ls -l > made"),
        parks("$'\\x72m' -r victim", RM, "$'\\x6cs' > made"),
        parks("r''m -\"r\" v\\ictim", RM, "l''s > made"),
        refused("rm -fr victim", RM, "echo rm -fr victim > made"),
        refused("rm --forc --recurs victim", RM, "ls --all > made"),
        refused("/bin/rm -vIrf -- victim", RM, "/bin/ls -- victim > made"),
    ]);
}

#[test]
fn wrappers() {
    try_all(&[
        parks("timeout 5 nice env A=1 sh -c 'rm -r victim'", RM, "timeout 5 nice env A=1 sh -c 'ls > made'"),
        parks("env -S 'rm -r victim'", RM, "env -S 'cp harmless.txt made'"),
        parks("echo victim | xargs rm -r", RM, "echo harmless.txt | xargs cat > made"),
        parks("echo rm -r victim | xargs -I% sh -c %", DYNAMIC, "echo one | xargs -I% grep % harmless.txt > made"),
        parks("eval \"$(echo 'rm -r victim')\"", DYNAMIC, "eval 'ls > made'"),
        parks("sh <<'END'\nrm -r victim\nEND", CODE, "cat <<'END' > made\nrm -r victim\nEND"),
        parks("perl -e 'unlink \"victim\"'", CODE, "perl -v > made"),
        parks("perl -w <<'END'\nunlink 'victim';\nEND", CODE, "perl --version < harmless.txt > made"),
        refused("builtin command exec rm -rf victim", RM, "command ls > made"),
    ]);
}

#[test]
fn small_languages_and_options_that_run_programs() {
    try_all(&[
        parks("sed -n '1e touch marker' harmless.txt", CODE, "sed -n '1p' harmless.txt > made"),
        parks("sed -n 'w marker' harmless.txt", CODE, "sed 's/we/e w/' harmless.txt > made"),
        parks("awk 'BEGIN { system(\"touch marker\") }'", CODE, "awk '{ print \"system(\" }' harmless.txt > made"),
        parks("find . -name victim -exec rm -r {} +", RM, "find . -name '*.txt' -exec cat {} + > made"),
        parks("find victim -delete", FIND, "find . -name '*.txt' > made"),
        parks("option=-delete; find victim $option", DYNAMIC, "name=harmless; find . -name \"$name*\" > made"),
        parks(
            "sort --compress-program=./evil.sh -S 1k --batch-size=2 <(seq 1 99999) > made",
            "[program.sort]\nlevel = \"medium\"\n",
            "sort -r harmless.txt > made",
        ),
    ]);
}

#[test]
fn options_for_git() {
    try_all(&[
        parks("git -c alias.x='!touch marker' x", CODE, "git --version > made"),
        parks(
            "git init -q r && git -C r -c core.fsmonitor='touch /workspace/marker; false' status",
            CODE,
            "git init -q r && git -C r status > made",
        ),
        parks(
            "git init -q r; git ls-remote --upload-pack='touch /workspace/marker; git-upload-pack' ./r",
            CODE,
            "git init -q r; git ls-remote ./r > made",
        ),
        parks(
            "git -c protocol.ext.allow=always ls-remote 'ext::touch /workspace/marker'",
            CODE,
            "git init -q r; git -C r remote add x https://example.org/x; git -C r remote > made",
        ),
        parks(
            "git init -q r; git -C r config alias.x '!touch /workspace/marker'; git -C r x",
            CODE,
            "git init -q r; git -C r config user.name me; ls r > made",
        ),
    ]);
}

#[test]
fn builtins_that_poison_what_comes_later() {
    try_all(&[
        parks("shopt -s expand_aliases\nalias ls='touch marker'\nls", POISON, "ls > made"),
        parks("ls() { touch marker; }; ls", POISON, "list() { ls; }; list > made"),
        parks("hash -p /workspace/evil.sh ls; ls", POISON, "type ls > made"),
        parks("mkdir bin; cp evil.sh bin/ls; PATH=$PWD/bin:$PATH; ls", POISON, "A=$PWD/bin:$PATH; echo $A > made"),
        parks("printf -v 'a[$(touch marker)]' x", CODE, "printf -v a x; echo $a > made"),
        parks("x='a[$(touch marker)]'; echo $((x))", CODE, "x=3; echo $((x + 1)) > made"),
    ]);
}
