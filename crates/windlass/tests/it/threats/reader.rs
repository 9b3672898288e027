//! Texts that a shell reads otherwise than they look: where a comment begins, and where a here-document ends.

use super::trial::{parks, try_all};

const RM: &str = "[program.rm]\nlevel = \"medium\"\n";

#[test]
fn a_carriage_return_is_no_blank() {
    try_all(&[parks("echo a\r#;rm -r victim", RM, "echo a #;rm -r victim\nls > made")]);
}

#[test]
fn a_here_document_ends_where_the_shell_says() {
    try_all(&[
        parks(
            "cat <<$x\n\necho '\n$x\nrm -r victim\n: '",
            "[shell]\nunparsed = \"medium\"\n[program.rm]\nlevel = \"medium\"\n",
            "cat <<'$x' > made\n\nrm -r victim\n$x",
        ),
        parks(
            "cat <<END\nline\\\nEND\n: '\nEND\nrm -r victim\n: '",
            "[shell]\nunparsed = \"medium\"\n[program.rm]\nlevel = \"medium\"\n",
            "cat <<END > made\nline\\\nEND\nrm -r victim\nEND",
        ),
    ]);
}
