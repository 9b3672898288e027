//! The reader beside the shell it reads for: scripts are put together at random, a real bash runs them with an `rm` that only
//! says that it was run, and whatever made it run must have been found to be risky. What bash does not do proves nothing.

#![expect(clippy::disallowed_methods, reason = "a test of the reader against the real shell")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;
use windlass_policy::risk::{Level, Place, Table, assess_command};

/// Ways to write the words `rm victim`.
const PAYLOADS: &[&str] = &[
    "rm victim",
    "r\\m victim",
    "'r'm victim",
    "r\"\"m victim",
    "$'\\x72m' victim",
    "$'r\\155' victim",
    "${nothing}rm victim",
    "r${nothing}m victim",
    "$(echo rm) victim",
    "`echo rm` victim",
    "\"rm\" victim",
    "{rm,victim}",
    "rm\\\n victim",
    "r\\\nm victim",
    "</dev/null rm victim",
    "{a}</dev/null rm victim",
    "2>&1 rm victim",
    ">made rm victim",
    "A=1 rm victim",
    "A=1 B+=2 rm victim",
    "a[0]=1 rm victim",
    "IFS=_; x=rm_victim; $x",
    "x=rm; $x victim",
    "x=(rm victim); ${x[@]}",
    "set -- rm victim; $@",
    "command rm victim",
    "command -p -- rm victim",
    "env rm victim",
    "env -i PATH=\"$PATH\" rm victim",
    "env A=1 rm victim",
    "env -S 'rm victim'",
    "exec rm victim",
    "exec -a name rm victim",
    "timeout 5 rm victim",
    "timeout -k1 5 rm victim",
    "nice rm victim",
    "nice -n1 rm victim",
    "nohup rm victim",
    "echo victim | xargs rm",
    "echo victim | xargs -I% rm %",
    "echo victim | xargs -n1 -- rm",
    "find . -maxdepth 0 -exec rm victim ;",
    "find . -maxdepth 0 -exec rm {} \\;",
    "find . -maxdepth 0 -exec env rm {} +",
    "awk 'BEGIN { system(\"rm victim\") }'",
    "awk 'BEGIN { \"rm victim\" | getline }'",
    "awk 'BEGIN { print 1 | \"rm victim\" }'",
    "echo a | sed '1e rm victim'",
    "echo 'rm victim' | sed 's/a/a/;e'",
    "echo 'rm victim' | sed 's/rm/rm/e'",
    "echo a | sed -n -l 5 '1e rm victim'",
    "echo a | sed -e '1!d;e rm victim'",
    "echo rm victim | bash",
    "echo rm victim | bash -s",
    "bash <<<'rm victim'",
    "bash <(echo rm victim)",
    ". <(echo rm victim)",
    "source /dev/stdin <<<'rm victim'",
    "trap 'rm victim' EXIT",
    "trap 'rm victim' DEBUG; :",
    "PROMPT_COMMAND='rm victim'; :",
    "mapfile -c1 -C 'rm victim;:' < <(echo a)",
    "read -r x <<<'rm victim'; $x",
    "read 'a[$(rm victim)]' <<<x",
    "unset 'a[$(rm victim)]'",
    "test -v 'a[$(rm victim)]'",
    "[ -v 'a[$(rm victim)]' ]",
    "[[ -v 'a[$(rm victim)]' ]]",
    "[[ 'a[$(rm victim)]' -eq 1 ]]",
    "printf -v 'a[$(rm victim)]' x",
    "let 'a[$(rm victim)]'",
    "declare 'a[$(rm victim)]=1'",
    "typeset -n b='a[$(rm victim)]'; b=1",
    "declare -i b='a[$(rm victim)]'",
    "x='a[$(rm victim)]'; ((x))",
    "x='a[$(rm victim)]'; : $((x))",
    "x='a[$(rm victim)]'; : ${y:x}",
    "x='$(rm victim)'; : \"${x@P}\"",
    "((a[$(rm victim)]))",
    ": $((a[$(rm victim)]))",
    ": $[ $(rm victim) ]",
    ": ${a[$(rm victim)]}",
    ": ${a:$(rm victim)}",
    ": ${a/$(rm victim)}",
    ": ${!a*}; : ${a:=$(rm victim)}",
    "a[$(rm victim)]=1",
    "a=([$(rm victim)]=1)",
    "cat <<E\n$(rm victim)\nE\n",
    "cat <<-E\n\t`rm victim`\n\tE\n",
    "cat <<\"E F\"\nE F\nrm victim\n",
    "cat <<$(E)\n$(E)\nrm victim\n",
    "cat <<$E\n$E\nrm victim\n",
    "cat <<${E}\n${E}\nrm victim\n",
    "cat <<E; rm victim\nE\n",
    "cat <<E <<F\nE\nF\nrm victim\n",
    "cat <<<$(rm victim)",
    "make -f- <<<$'a:\\n\\trm victim'",
    "make -f - -s <<<$'a:\\n\\t@rm victim'",
    "make --eval='$(shell rm victim)' -f /dev/null",
    "x() { rm victim; }; x",
    "function x { rm victim; }; x",
    "function x() (rm victim); x",
    "x() if rm victim; then :; fi; x",
    "x () { :; } <<<$(rm victim); x",
    "coproc rm victim; wait",
    "coproc NAME { rm victim; }; wait",
    "time -p rm victim",
    "! rm victim",
    "echo \"a'\" rm; rm victim #'",
    "echo a#b; rm victim",
    "echo $#; rm victim",
    "echo ${#x}; rm victim",
    "echo '\\'; rm victim; echo '\\'",
    "echo \"\\\"; rm victim; echo \"",
    "echo $'\\''; rm victim; echo $'\\''",
    "echo \\\\; rm victim",
    ": {a,b}; rm victim",
    "case a in a) rm victim;; esac",
    "case a in (b) ;; *) rm victim ;; esac",
    "case a in a) ;& b) rm victim; esac",
    "case $(rm victim) in esac",
    "for i in 1; do rm victim; done",
    "for i in $(rm victim); do :; done",
    "for ((;;)) { rm victim; break; }",
    "for ((i=$(rm victim);;)); do break; done",
    "for i; do :; done; rm victim",
    "for i in rm; do $i victim; done",
    "select i in a; do :; done <<<1; rm victim",
    "until rm victim; do break; done",
    "if ! rm victim; then :; elif :; then :; else :; fi",
    "alias x=rm; shopt -s expand_aliases\nalias y='rm victim'\ny",
    "hash -p \"$(command -v rm)\" zz; zz victim",
    "enable -n echo; command -v rm >made; $(<made) victim",
    "BASH_ENV=<(echo rm victim) bash -c :",
    "eval rm victim",
    "eval -- 'rm' victim",
    "builtin eval rm victim",
    "builtin command rm victim",
    "x=eval; $x 'rm victim'",
    "bash -c 'rm victim'",
    "bash -c 'eval \"$@\"' x rm victim",
    "bash -c '\"$0\" victim' rm",
    "sh -ec 'rm victim'",
    "bash --norc -c 'rm victim'",
    "bash -o posix -c 'rm victim'",
    "bash +o posix -c 'rm victim'",
    "python3 <(echo 'import os; os.system(\"rm victim\")')",
    "python3 /proc/self/fd/0 <<<'import os; os.system(\"rm victim\")'",
    "python3 - <<<'import os; os.system(\"rm victim\")'",
    "python3 -c 'import os; os.system(\"rm victim\")'",
    "python3 -Bc 'import os; os.system(\"rm victim\")'",
    "perl <(echo 'system(\"rm victim\")')",
    "perl -e 'system(\"rm victim\")'",
    "perl -ne 'system(\"rm victim\")' <<<a",
    "awk -f <(echo 'BEGIN { system(\"rm victim\") }')",
    "echo a | sed -f <(echo '1e rm victim')",
    "make -f <(printf 'a:\\n\\trm victim\\n')",
    "make -sf- <<<$'a:\\n\\t@rm victim'",
    "make --file=- <<<$'a:\\n\\t@rm victim'",
    "make --makef - <<<$'a:\\n\\t@rm victim'",
    "{a[0]}</dev/null rm victim",
    "{a}>made rm victim",
    "rm victim {a}</dev/null",
    "xargs -a <(echo victim) rm",
    "xargs --arg-file=<(echo victim) rm",
    "tee >(rm victim) </dev/null",
    "env -u A -- rm victim",
    "env --split-string='rm victim'",
    "env -C . rm victim",
    "nice -1 rm victim",
    "timeout --signal=9 5 rm victim",
    "find . -maxdepth 0 -ok rm victim ; </dev/null; rm victim",
    "find . -maxdepth 0 -execdir rm {} +",
    "IFS=,; x=rm,victim; eval $x",
    "printf 'rm victim' | bash -",
    "bash /dev/stdin <<<'rm victim'",
    "bash -ic 'rm victim'",
    "bash --rcfile <(echo rm victim) -ic :",
    "exec {a}<>made; rm victim",
    "$'rm' victim",
    "$\"rm\" victim",
    "r*m victim; rm victim",
    "\\rm victim",
    "((1)) && rm victim",
    "[[ a = a ]] && rm victim",
    "[[ a =~ (a|b) ]] && rm victim",
    "[ a = a ] && rm victim",
    "a=b$(rm victim)c",
    "a+=$(rm victim)",
    "local x; rm victim",
    "export x=$(rm victim)",
    "readonly x=`rm victim`",
    "echo ${x:+a}${x-$(rm victim)}",
    "echo ${x^^}${x,,}; rm victim",
    "echo \"${x:-\"$(rm victim)\"}\"",
    "echo \"${x:-'$(rm victim)'}\"",
    "echo ${x:-'$(rm victim)'}; rm victim",
    "echo \"${x:-don't}\"; rm victim; echo \"${x:-don't}\"",
    "echo \"${x#'}'; rm victim; echo '}\"; rm victim",
    "echo \"${x:-'}\"; rm victim; echo \"'}\"",
    "cat <<E\n${x:-'$(rm victim)'}\nE\n",
    "echo \"${x:-\\\"$(rm victim)\\\"}\"",
    "echo \"${x/'a'/$(rm victim)}\"",
    "echo \"${x:-${y:-'$(rm victim)'}}\"",
    ": $((${x:-'0'}$(rm victim)))",
    "echo \"$(echo \")\"; rm victim)\"",
    "echo $(case a in a) rm victim;; esac)",
    "echo $(case a in (a) rm victim;; esac)",
    "echo $( # a comment )\nrm victim )",
    "echo `# a comment\nrm victim`",
    "echo $(cat <<E\n)\nE\nrm victim)",
    "echo `echo \\`rm victim\\``",
    "cat <<E\n\\$(rm victim)\n$(rm victim)\nE\n",
    "cat <<\\E\n$(E\nE\nrm victim\n",
    "cat <<'E'\n`\nE\nrm victim\n",
    "cat <<E&rm victim\nE\n",
    "cat <<E|rm victim\nE\n",
    "(cat <<E) ; rm victim\nE\n",
    "cat <<-'E'\n\tE\nrm victim\n",
    "cat <<E\nE \nE\nrm victim\n",
    "cat << \\\nE\nE\nrm victim\n",
    "cat<<E 1<<F;rm victim\nE\nF\n",
    "if :; then rm victim; fi",
    "if :\nthen rm victim\nfi",
    "while :; do rm victim; break; done",
    "{ rm victim; }",
    "{\nrm victim\n}",
    "(rm victim)",
    "x=1;rm victim",
    ":;rm victim",
    ":&rm victim",
    ":|rm victim",
    ":||:;rm victim",
    ":|&rm victim",
    "esac=1; case esac in esac) ;; (esac) rm victim ;; esac",
    "for in in in; do rm victim; done",
    "if=1 then=2 rm victim",
    "function if { :; }; rm victim",
    "do() { :; } 2>/dev/null; rm victim",
    "time ! rm victim",
    "time { rm victim; }",
    "! ! rm victim",
    "coproc { rm victim; } ; wait",
    "wait; wait -n; rm victim",
    "type rm >/dev/null && rm victim",
    "x=$(command -v rm); \"$x\" victim",
    "\"$(type -P rm)\" victim",
    "${PATH%%:*}/rm victim",
    "cd \"${PATH%%:*}\"; ./rm victim",
    "pushd . >/dev/null; rm victim",
    "set -e; rm victim",
    "shopt -s extglob; rm victim",
    "shopt -s extglob\necho @(a|b); rm victim",
    "echo a\\ #b; rm victim",
    "echo a;# '\nrm victim",
    "echo a &# '\nrm victim",
    "#\nrm victim",
    "#\\\nrm victim",
    "echo \\\n#; rm victim",
    "echo a\\\n#b; rm victim",
    "ln -s \"$(command -v rm)\" zz; ./zz victim",
    "cp \"$(command -v rm)\" zz; ./zz victim",
];

/// Ways to put a script into another.
fn around(script: &str, way: usize) -> String {
    let quoted = format!("'{}'", script.replace('\'', "'\\''"));
    match way {
        0 => format!("{{ {script}\n}}"),
        1 => format!("( {script}\n)"),
        2 => format!("if {script}\nthen :; fi"),
        3 => format!(": \"$({script}\n)\""),
        4 => format!("x=$({script}\n)"),
        5 => format!("cat <({script}\n)"),
        6 => format!("eval {quoted}"),
        7 => format!("bash -c {quoted}"),
        8 => format!("true && {{ {script}\n}} | cat"),
        9 => format!("f() {{ {script}\n}}; f"),
        10 => format!("case x in x) {script}\n;; esac"),
        11 => format!("for i in 1; do {script}\ndone"),
        12 => format!("while {script}\ndo break; done"),
        13 => format!("[[ -n $({script}\n) ]]"),
        14 => format!(": \"${{x:-$({script}\n)}}\""),
        15 => format!("cat <<E\n$({script}\n)\nE\n"),
        16 => format!("# a comment\necho a #'b\n{script}"),
        17 => format!("echo 'a\nb' \"c\nd\"; {script}"),
        18 => format!("(({script}\n))"),
        19 => format!("( ({script}\n) )"),
        20 => format!("trap {quoted} EXIT"),
        21 => format!("{script}\n: `echo \\`echo\\``"),
        22 => format!("coproc {{ {script}\n}}; wait"),
        _ => format!("cat <<'E'\n' \"\nE\n{script}"),
    }
}

const WAYS: usize = 24;

/// A folder with an `rm` that leaves a mark, and the programs that scripts use to get at it.
struct Ground {
    folder: TempDir,
}

impl Ground {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).expect("a folder");
        let mark = folder.path().join("ran");
        let rm = bin.join("rm");
        fs::write(&rm, format!("#!/bin/bash\n: >{}\n", mark.display())).expect("written");
        fs::set_permissions(&rm, fs::Permissions::from_mode(0o755)).expect("a mode");
        for name in [
            "awk", "bash", "cat", "cp", "env", "find", "ln", "make", "nice", "nohup", "perl", "python3", "sed", "sh",
            "tee", "timeout", "xargs",
        ] {
            let real =
                ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name)).into_iter().find(|real| real.exists());
            if let Some(real) = real {
                symlink(real, bin.join(name)).expect("a link");
            }
        }
        Self { folder }
    }

    /// Whether bash, given this script, comes to run `rm`.
    fn runs_rm(&self, script: &str) -> bool {
        let work = TempDir::new_in(self.folder.path()).expect("a folder");
        let mark = self.folder.path().join("ran");
        let _none_yet = fs::remove_file(&mark);
        let bin = self.folder.path().join("bin");
        let mut bash = Command::new("/bin/bash");
        bash.args(["-c", script]).env_clear().env("PATH", bin).current_dir(work.path());
        bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        bash.status().expect("bash is there");
        mark.exists()
    }
}

fn is_found_risky(script: &str) -> bool {
    let place = Place { workspace: "/workspace".to_owned(), cwd: "/workspace".to_owned() };
    assess_command(&Table::shipped(), script, &place).level >= Level::High
}

/// Each by itself first, so that a failure names the one.
#[test]
fn whatever_makes_bash_run_rm_is_risky() {
    let ground = Ground::new();
    let (mut ran, mut missed) = (0, Vec::new());
    for payload in PAYLOADS {
        if ground.runs_rm(payload) {
            ran += 1;
            if !is_found_risky(payload) {
                missed.push(*payload);
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(ran * 10 > PAYLOADS.len() * 8, "only {ran} of {} run it, so that little is proved", PAYLOADS.len());
}

#[test]
fn whatever_makes_bash_run_rm_is_risky_wherever_it_stands() {
    let ground = Ground::new();
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let scripts = (0..PAYLOADS.len(), prop::collection::vec(0..WAYS, 1..4));
    let judged = runner.run(&scripts, |(payload, ways)| {
        let script = ways.iter().fold(PAYLOADS[payload].to_owned(), |script, way| around(&script, *way));
        prop_assert!(is_found_risky(&script) || !ground.runs_rm(&script), "{script}");
        Ok(())
    });
    judged.unwrap_or_else(|missed| panic!("{missed}"));
}
