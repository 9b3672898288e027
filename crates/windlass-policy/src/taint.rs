//! The rules of contracts §5: what a result's taint is, and which calls may not leave an external
//! context unasked. Labels only rise; joining is `Taint::join`.

use std::time::Duration;

use windlass_domain::{Labels, Reach, Taint, Wall};

/// The label of a call's result, by what the call could read. `labels` are those of the workspace's files.
pub fn result_taint(reach: &Reach, context: Taint, labels: &Labels) -> Taint {
    match reach {
        Reach::Context => context,
        // What was found is joined to it by the host, who looked. Nothing that could be left in a file is known before.
        Reach::Memory => context,
        // Of no file at all, what is said comes from whoever asked.
        Reach::Files(files) => files.iter().map(|file| labels.under(file)).reduce(Taint::join).unwrap_or(context),
        Reach::Program => context.join(labels.whole()),
        Reach::NetworkProgram | Reach::Outside(_) => Taint::External,
    }
}

/// Summaries, memos, bindings and sub-agents' results. Of nothing at all nothing is known.
pub fn joined(sources: impl IntoIterator<Item = Taint>) -> Taint {
    sources.into_iter().reduce(Taint::join).unwrap_or_else(Taint::missing)
}

/// What an execution wants to do, as far as taint cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed<'a> {
    Call(&'a Reach),
    InstallSkill,
    ChangeGates,
    WriteOwnerMemory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    Free,
    NeedsApproval,
}

/// Default policy: in an external context nothing is carried out unasked but to hosts the operator listed, and nothing that
/// outlives the execution is trusted on its word. Hosts are compared whole, whatever their case and final dot; `.example.com` is
/// that host and every one below it. An entry with a port is that port's, one without is that of the web's two.
pub fn leave(context: Taint, deed: Deed<'_>, allowed_hosts: &[String]) -> Leave {
    let external = context == Taint::External;
    let needs = match deed {
        Deed::Call(Reach::Outside(Some(host))) if allowed_hosts.iter().any(|entry| is_allowed(entry, host)) => false,
        Deed::Call(reach) => external && reach.can_carry_out(),
        Deed::InstallSkill | Deed::ChangeGates => true,
        Deed::WriteOwnerMemory => context != Taint::Owner,
    };
    if needs { Leave::NeedsApproval } else { Leave::Free }
}

/// Where the web is: an entry without a port means these, and no other.
const PORTS: [&str; 2] = ["80", "443"];
/// Of a host that is named without one.
const USUAL: &str = "443";

fn is_allowed(entry: &str, wanted: &str) -> bool {
    let ((entry, of_entry), (host, port)) = (parts(entry), parts(wanted));
    let is_host = match entry.strip_prefix('.') {
        Some(name) => !name.is_empty() && (host == name || host.ends_with(&entry)),
        None => !entry.is_empty() && host == entry,
    };
    let port = port.unwrap_or(USUAL);
    is_host && of_entry.map_or(PORTS.contains(&port), |named| named == port)
}

/// The host in one spelling, and the port where one is written.
fn parts(written: &str) -> (String, Option<&str>) {
    let (host, port) = match written.rsplit_once(':') {
        // An address of version 6 without brackets has no port.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (written, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase(), port)
}

/// How old a message signed by the owner may be when it arrives.
pub const OWNER_MESSAGE_LIFETIME: Duration = Duration::from_secs(5 * 60);

/// What is known of a message when it arrives. It is judged once; the label then stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The owner's key signed it, and its nonce was never seen before.
    pub signed_with_fresh_nonce: bool,
    pub signed_at: Wall,
    pub channel: Channel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    Authenticated,
    Open,
}

pub fn arrival_taint(arrival: Arrival, now: Wall) -> Taint {
    let fresh = now.since(arrival.signed_at) <= OWNER_MESSAGE_LIFETIME
        && arrival.signed_at.since(now) <= OWNER_MESSAGE_LIFETIME;
    match arrival.channel {
        _ if arrival.signed_with_fresh_nonce && fresh => Taint::Owner,
        Channel::Authenticated => Taint::Auth,
        Channel::Open => Taint::External,
    }
}
