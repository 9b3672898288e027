//! The rules of contracts §5: what a result's taint is, what a changed file takes, and which calls may not leave an external
//! context unasked. Labels only rise; joining is `Taint::join`.

use std::time::Duration;

use windlass_domain::{Taint, Wall};

/// What a tool can read from, and whether what it is given can leave the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Notes and plans: nothing but the context itself.
    Context,
    /// Files of the workspace, each with its own label.
    Files,
    /// A program without network: it sees the context's words and the whole workspace.
    Program,
    /// A program with network.
    NetworkProgram,
    /// Web, search, browser, MCP.
    Outside,
}

impl Reach {
    pub const ALL: [Self; 5] = [Self::Context, Self::Files, Self::Program, Self::NetworkProgram, Self::Outside];

    /// The reach of a tool by its name; what is not known may come from anywhere and go anywhere.
    pub fn of_tool(tool: &str, network: Network) -> Self {
        match (tool, network) {
            ("read" | "grep" | "glob" | "write" | "edit" | "read_skill" | "list_skills", _) => Self::Files,
            ("update_plan" | "save_memo" | "search_memo" | "publish_deliverable" | "ask_user" | "spawn_agent", _) => {
                Self::Context
            }
            ("bash" | "python_exec" | "skill_exec", Network::None) => Self::Program,
            ("bash" | "python_exec" | "skill_exec", Network::Some) => Self::NetworkProgram,
            _ => Self::Outside,
        }
    }

    pub const fn can_carry_out(self) -> bool {
        matches!(self, Self::NetworkProgram | Self::Outside)
    }
}

/// Whether the sandbox lets a program talk to anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    None,
    Some,
}

/// The label of a call's result. `files` are the labels of what was read; for a program, of everything it could read.
pub fn result_taint(reach: Reach, context: Taint, files: impl IntoIterator<Item = Taint>) -> Taint {
    let of_files = files.into_iter().reduce(Taint::join);
    match reach {
        Reach::Context => context,
        // Of no file at all, what is said comes from whoever asked.
        Reach::Files => of_files.unwrap_or(context),
        Reach::Program => context.join(of_files.unwrap_or(context)),
        Reach::NetworkProgram | Reach::Outside => Taint::External,
    }
}

/// A file that a tool changed, or that was found changed after a program, is as trustworthy as who changed it, and never
/// more so than before.
pub fn changed_file_taint(before: Option<Taint>, execution: Taint) -> Taint {
    before.map_or(execution, |before| before.join(execution))
}

/// Summaries, memos, bindings and sub-agents' results. Of nothing at all nothing is known.
pub fn joined(sources: impl IntoIterator<Item = Taint>) -> Taint {
    sources.into_iter().reduce(Taint::join).unwrap_or_else(Taint::missing)
}

/// What an execution wants to do, as far as taint cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed<'a> {
    /// A call; `host` is where it goes, if it goes to one place.
    Call {
        reach: Reach,
        host: Option<&'a str>,
    },
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
/// outlives the execution is trusted on its word. Hosts are compared whole, whatever their case and final dot.
pub fn leave(context: Taint, deed: Deed<'_>, allowed_hosts: &[String]) -> Leave {
    let external = context == Taint::External;
    let needs = match deed {
        Deed::Call { reach, host } => {
            let listed = |host: &str| allowed_hosts.iter().any(|allowed| same_host(allowed, host));
            external && reach.can_carry_out() && !host.is_some_and(listed)
        }
        Deed::InstallSkill | Deed::ChangeGates => true,
        Deed::WriteOwnerMemory => context != Taint::Owner,
    };
    if needs { Leave::NeedsApproval } else { Leave::Free }
}

fn same_host(one: &str, other: &str) -> bool {
    let bare = |host: &str| host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    !one.is_empty() && bare(one) == bare(other)
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
