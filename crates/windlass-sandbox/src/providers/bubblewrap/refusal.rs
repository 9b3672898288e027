//! What bubblewrap says when it cannot, turned into what an operator can do about it.

use std::path::Path;

use crate::Error;

pub(crate) const INSTALL: &str =
    "install the Debian package bubblewrap (apt install bubblewrap), or its equivalent elsewhere";

pub(crate) fn explain(said: &str) -> Error {
    let detail = match said.is_empty() {
        true => "bubblewrap ended without a word".to_owned(),
        false => said.to_owned(),
    };
    Error::Refused { hint: hint(said, restricts_by_apparmor()), detail }
}

fn restricts_by_apparmor() -> bool {
    let path = Path::new("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
    std::fs::read_to_string(path).is_ok_and(|value| value.trim() == "1")
}

fn hint(said: &str, by_apparmor: bool) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let is_about_namespaces = says(&["namespace", "uid map", "setgroups", "clone", "loopback"]);
    if is_about_namespaces && by_apparmor {
        "AppArmor restricts user namespaces: give bubblewrap a profile that allows `userns`, \
         or set sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    } else if is_about_namespaces {
        "allow user namespaces: sysctl user.max_user_namespaces above 0 and, on Debian, \
         kernel.unprivileged_userns_clone=1; in a container, run it with a seccomp profile that allows them"
    } else if says(&["seccomp"]) {
        "the kernel needs CONFIG_SECCOMP_FILTER"
    } else if says(&["proc"]) {
        "mounting /proc was denied: in a container, do not mask it (docker: --security-opt systempaths=unconfined)"
    } else if says(&["supervisor cannot start"]) {
        "the configured supervisor program must be this same version of windlass"
    } else if says(&["Unknown option"]) {
        "install bubblewrap 0.8 or newer"
    } else if says(&["execvp"]) {
        "the configured supervisor program must exist and run on this machine's own libraries"
    } else {
        "run `windlass doctor`"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_names_its_remedy() {
        let check = |said: &str, by_apparmor: bool, remedy: &str| {
            let hint = hint(said, by_apparmor);
            assert!(hint.contains(remedy), "{said:?} gave {hint:?}");
        };
        let no_namespace = "bwrap: No permissions to create new namespace, likely because the kernel does not allow";
        check(no_namespace, false, "user.max_user_namespaces");
        check("bwrap: setting up uid map: Permission denied", true, "apparmor_restrict_unprivileged_userns=0");
        check("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", true, "AppArmor");
        check("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", false, "systempaths");
        check("bwrap: Unknown option --size", false, "0.8");
        check("bwrap: execvp /run/windlass/supervisor: No such file", false, "supervisor program");
        check("something else", false, "doctor");
    }
}
