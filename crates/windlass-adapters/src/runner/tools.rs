//! Whether an agent has the tools that it was given. It is seen at our own end, where it asks for their list, whatever it says of itself, and the
//! same for all of them and in both modes. An agent without them would work on while its owner hears nothing: one that asks its
//! model for something to do, and has them not, is ended at that question. Some connect beside their first question, so that it waits a moment.

use std::time::Duration;

use tokio::sync::watch;
use windlass_domain::Runtime;

use super::ending::End;

/// What is said to such an agent's question.
pub const NOT_THERE: &str =
    "this agent was given tools of Windlass's and has not connected to them: it is being stopped";
const WITHOUT_THEM: &str = "it asked its model without having connected to the MCP server that it was given";

pub struct Tools {
    seen: watch::Sender<Seen>,
    /// For whoever is still connecting when it asks.
    connecting: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// It was given none.
    NotGiven,
    Nothing,
    Listed,
    /// It asked its model first.
    Missed,
}

impl Tools {
    pub fn new(are_given: bool, connecting: Duration) -> Self {
        let seen = watch::Sender::new(if are_given { Seen::Nothing } else { Seen::NotGiven });
        Self { seen, connecting }
    }

    /// It has them; whether that is news.
    pub fn are_listed(&self) -> bool {
        self.seen.send_if_modified(|seen| {
            let is_news = *seen == Seen::Nothing;
            if is_news {
                *seen = Seen::Listed;
            }
            is_news
        })
    }

    /// It asks its model; whether it may, once it has connected or had the time for it.
    pub async fn let_ask(&self, runtime: &dyn Runtime) -> bool {
        let mut seen = self.seen.subscribe();
        let settled = async { seen.wait_for(|seen| *seen != Seen::Nothing).await.is_ok() };
        tokio::select! {
            biased;
            _is_known = settled => {}
            () = runtime.sleep(self.connecting) => {}
        }
        self.asks()
    }

    fn asks(&self) -> bool {
        self.seen.send_if_modified(|seen| {
            let is_first = *seen == Seen::Nothing;
            if is_first {
                *seen = Seen::Missed;
            }
            is_first
        });
        *self.seen.borrow() != Seen::Missed
    }

    /// Comes when it has asked without them.
    pub async fn are_missed(&self) -> End {
        let mut seen = self.seen.subscribe();
        let _it_is_ours_to_say = seen.wait_for(|seen| *seen == Seen::Missed).await.is_ok();
        End::Unacceptable(WITHOUT_THEM.to_owned())
    }

    /// A program whose question was refused may have ended by that, and knows no better reason.
    pub fn judge(&self, end: End) -> End {
        match end {
            End::Turn(_) | End::Exited(_) if *self.seen.borrow() == Seen::Missed => {
                End::Unacceptable(WITHOUT_THEM.to_owned())
            }
            end => end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(are_given: bool) -> Tools {
        Tools::new(are_given, Duration::ZERO)
    }

    #[test]
    fn who_was_given_tools_has_them_before_it_asks() {
        let connected = tools(true);
        assert!(connected.are_listed() && !connected.are_listed(), "it is news once");
        assert!(connected.asks() && connected.asks());
        let lost = tools(true);
        assert!(!lost.asks());
        assert!(!lost.are_listed() && !lost.asks(), "too late");
        let without = tools(false);
        assert!(without.asks() && !without.are_listed());
    }

    #[test]
    fn what_came_of_a_refused_question_is_not_the_reason() {
        let is_unacceptable = |tools: &Tools, end| matches!(tools.judge(end), End::Unacceptable(_));
        let (fine, lost) = (tools(true), tools(true));
        assert!(!lost.asks());
        assert!(is_unacceptable(&lost, End::Exited("400".to_owned())));
        assert!(!is_unacceptable(&fine, End::Exited("400".to_owned())));
        assert!(!is_unacceptable(&lost, End::Silent) && !is_unacceptable(&lost, End::Held));
    }
}
