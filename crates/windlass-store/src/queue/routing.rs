//! Who may say what to whom: seed 001 §2.3's table. A message that is not in it has no queue. `system_event`, which §2.1
//! lets the runtime send to anybody, has no row: its sender names the queue.

use windlass_domain::queue::{MessageKind, Sender};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Queue {
    Proxy,
    Planner,
    Executor,
    Runtime,
}

impl Queue {
    pub const ALL: [Self; 4] = [Self::Proxy, Self::Planner, Self::Executor, Self::Runtime];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Proxy => "proxy_queue",
            Self::Planner => "planner_queue",
            Self::Executor => "executor_queue",
            Self::Runtime => "runtime_queue",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    pub source: Sender,
    pub destination: Queue,
    pub message_kind: MessageKind,
}

const fn row(source: Sender, destination: Queue, message_kind: MessageKind) -> Route {
    Route { source, destination, message_kind }
}

pub const ROUTES: &[Route] = &[
    row(Sender::User, Queue::Proxy, MessageKind::UserMessage),
    row(Sender::Proxy, Queue::Planner, MessageKind::PlanRequest),
    row(Sender::Planner, Queue::Proxy, MessageKind::PlanResult),
    row(Sender::Planner, Queue::Executor, MessageKind::ResearchRequest),
    row(Sender::Executor, Queue::Planner, MessageKind::ResearchResult),
    row(Sender::Runtime, Queue::Proxy, MessageKind::ExecutionStatusChange),
    row(Sender::Runtime, Queue::Planner, MessageKind::ConsultPlanner),
    row(Sender::Planner, Queue::Runtime, MessageKind::PlannerGuidance),
    row(Sender::Runtime, Queue::Planner, MessageKind::ReplanRequest),
];

/// Where a message goes; `None`: nowhere.
pub fn route(source: Sender, message_kind: MessageKind) -> Option<Queue> {
    let found = ROUTES.iter().find(|route| (route.source, route.message_kind) == (source, message_kind));
    found.map(|route| route.destination)
}

pub fn may_enter(queue: Queue, source: Sender, message_kind: MessageKind) -> bool {
    let is_announcement = (source, message_kind) == (Sender::Runtime, MessageKind::SystemEvent);
    is_announcement || route(source, message_kind) == Some(queue)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed's table, read from its own words.
    const TABLE: &str = "
        user     -> proxy_queue    : user_message
        proxy    -> planner_queue  : plan_request
        planner  -> proxy_queue    : plan_result
        planner  -> executor_queue : research_request
        executor -> planner_queue  : research_result
        runtime  -> proxy_queue    : execution_status
        runtime  -> planner_queue  : consult_planner
        planner  -> runtime_queue  : planner_guidance
        runtime  -> planner_queue  : replan_request";

    fn every_combination() -> impl Iterator<Item = (Sender, Queue, MessageKind)> {
        Sender::ALL.iter().flat_map(|source| {
            Queue::ALL
                .into_iter()
                .flat_map(move |queue| MessageKind::ALL.iter().map(move |kind| (*source, queue, *kind)))
        })
    }

    #[test]
    fn the_table_is_routed_and_nothing_else() {
        let said: Vec<String> =
            TABLE.lines().map(|line| line.replace(' ', "")).filter(|line| !line.is_empty()).collect();
        let mut routed = 0;
        for (source, queue, kind) in every_combination() {
            let line = format!("{source}->{}:{kind}", queue.name());
            let expected = said.contains(&line);
            assert_eq!(route(source, kind) == Some(queue), expected, "{line}");
            let announced = (source, kind) == (Sender::Runtime, MessageKind::SystemEvent);
            assert_eq!(may_enter(queue, source, kind), expected || announced, "{line}");
            routed += usize::from(expected);
        }
        assert_eq!((routed, ROUTES.len()), (9, 9));
    }
}
