//! How a Chromium is started in a sandbox: quiet, without a profile that stays, its only way out the sandbox's proxy, and its
//! protocol on the two pipes that every command has.

use windlass_sandbox::Command;

/// A shell of the sandbox moves the pipes to where Chromium wants them, makes the folder that it may write to, and tells it
/// where fonts are, because a sandbox has little of `/etc`. What Chromium wants for itself (updates, the time, accounts) is sent to
/// a port where nobody listens: only the page's own context knows the way out.
const START: &str = r#"exec 3<&0 4>&1 </dev/null >/dev/null
profile=$(mktemp -d) || exit
export XDG_CONFIG_HOME="$profile" XDG_CACHE_HOME="$profile" FONTCONFIG_FILE="$profile/fonts.conf"
printf '<fontconfig><dir>/usr/share/fonts</dir><cachedir>%s</cachedir></fontconfig>' "$profile" >"$FONTCONFIG_FILE"
exec "$@" --user-data-dir="$profile" --proxy-server=http://127.0.0.1:1 about:blank"#;

const FLAGS: [&str; 26] = [
    "--headless",
    "--remote-debugging-pipe",
    // It cannot be nested; the sandbox around it is the wall.
    "--no-sandbox",
    "--no-zygote",
    // Not even this machine is reached past the proxy.
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--deny-permission-prompts",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-notifications",
    "--disable-sync",
    // An address is asked for as it is written, and a page when it is wanted.
    "--disable-features=HttpsUpgrades,Prerender2,Translate,MediaRouter,OptimizationHints,AutofillServerCommunication",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--renderer-process-limit=4",
];

pub(super) fn command(program: &str) -> Command {
    let words = ["sh", "-c", START, "sh", program];
    let mut command = Command::new(words.iter().chain(&FLAGS));
    command.timeout = Command::NO_TIMEOUT;
    command
}
