//! The reader alone: what it takes a text for.

use super::parser::{Defect, read};

/// Each simple command as `NAME= word word >target`, a hole as `□`, commands apart by ` ; `.
fn shown(text: &str) -> String {
    let script = read(text);
    let mut commands: Vec<String> = Vec::new();
    for command in &script.commands {
        let assignments = command.assignments.iter().map(|(name, _)| format!("{name}="));
        let words = command.words.iter().flat_map(super::Word::args).map(|arg| match arg.fixed {
            true => arg.text,
            false => format!("{}□", arg.text),
        });
        let redirects = command.redirects.iter().map(|redirect| format!(">{}", redirect.target.whole().text));
        commands.push(assignments.chain(words).chain(redirects).collect::<Vec<_>>().join(" "));
    }
    match script.defect {
        None => commands.join(" ; "),
        Some(Defect::Syntax(_)) => format!("{} !", commands.join(" ; ")),
        Some(Defect::TooDeep) => format!("{} !deep", commands.join(" ; ")),
    }
}

#[test]
fn every_command_is_found_wherever_it_stands() {
    let table = [
        ("ls -la", "ls -la"),
        ("a; b && c || d | e & f", "a ; b ; c ; d ; e ; f"),
        ("a\nb # c\nd", "a ; b ; d"),
        ("echo $(a) `b` \"$(c)\"", "a ; b ; c ; echo □ □ □"),
        ("echo '$(a)' \\$\\(b\\)", "echo $(a) $(b)"),
        ("if a; then b; elif c; then d; else e; fi", "a ; b ; c ; d ; e"),
        ("while a; do b; done > x", "a ; b ; >x"),
        ("for x in 1 2; do a $x; done", "x= ; a □"),
        ("for ((i=0; i<3; i++)); do a; done", "a"),
        ("case $x in a|b) c;; (d) e;; *) f; esac", "c ; e ; f"),
        ("f() { a; }; f", "a ; f"),
        ("function f { a; }", "a"),
        ("(a; (b))", "a ; b"),
        ("{ a; b; }", "a ; b"),
        ("[[ $x == a && -f $(b) ]] && c", "b ; c"),
        ("((x = 1 + $(a))) && b", "a ; a ; x = 1 + □ ; b"),
        ("echo $((1 + 2))", "echo □"),
        ("echo $((a); b)", "a ; b ; echo □"),
        ("((a); b)", "a ; b"),
        ("X=1 Y=$(a) b c", "a ; X= Y= b c"),
        ("x=(a $(b) c)", "b ; x="),
        ("diff <(a) <(b)", "a ; b ; diff /dev/fd/□ /dev/fd/□"),
        ("a > x 2>&1 < y", "a >x >y"),
        ("a &> x", "a >x"),
        ("<&-a b 2>&-c", "a b c"),
        ("cat <<EOF\n$(a) \"`b`\"\nEOF\nc", "cat >EOF ; a ; b ; c"),
        ("cat <<'EOF'\n$(a)\nEOF\nc", "cat >EOF ; c"),
        ("cat <<-EOF\n\tx\n\tEOF\nc", "cat >EOF ; c"),
        ("cat <<E\na\\\nE\nb\nE\nc", "cat >E ; c"),
        ("cat <<END\nEN\\\nD\nc", "cat >END ; c"),
        ("cat <<'E'\na\\\nE\nc", "cat >E ; c"),
        ("a\r#;b", "a\r# ; b"),
        ("a ${X:=b} ${Y=c} ${Z:-d}", "X= ; Y= ; a □ □ □"),
        ("a <<< \"$(b)\"", "b ; a >"),
        ("r''m -\"r\"f /", "rm -rf /"),
        ("\\rm $'\\x2drf'", "rm -rf"),
        ("rm${IFS}-rf$IFS/", "rm -rf /"),
        ("echo \"a$IFS\"", "echo a□"),
        ("{rm,-rf,/}", "{rm,-rf,/}□"),
        ("find . -exec a {} \\;", "find . -exec a {} ;"),
        ("/b?n/r* x", "/b?n/r*□ x"),
        ("time -p a", "a"),
        ("! a", "a"),
        ("echo ${x:-$(a)} ${y#'}'}", "a ; echo □ □"),
        ("a \\\n b", "a b"),
        ("a 'b\nc' d", "a b\nc d"),
        ("trap 'a' EXIT", "trap a EXIT"),
    ];
    for (text, expected) in table {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn what_is_not_understood_is_said_and_what_came_before_is_kept() {
    let table = [
        ("a; b)", "a ; b !"),
        ("a; (b", "a ; b !"),
        ("a 'b", "a !"),
        ("a \"b", "a !"),
        ("a `b", "a !"),
        ("a $(b", "b ; a !"),
        ("if a; then b", "a ; b !"),
        ("a; fi", "a !"),
        ("a ${x", "a !"),
        ("a ${x@P}", "a !"),
        ("a b (c)", "a b !"),
        ("a <<$x\nb\n$x", "a !"),
        ("a >", "a !"),
        ("a; ;; b", "a !"),
    ];
    for (text, expected) in table {
        assert_eq!(shown(text), expected, "{text}");
    }
    for nested in ["(", "$(", "\"$(", "`", "${x:-", "{ ", "$((", "case a in a) "] {
        let text = nested.repeat(20_001);
        let found = read(&text);
        assert!(found.defect.is_some(), "{nested}");
    }
}
