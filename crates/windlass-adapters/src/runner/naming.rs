//! The name of a conversation that goes on on a program's own screen, where nobody says it. One that the program was given is known as soon as the
//! program has asked a model: before that nothing is in its home. Any other is looked for in the home, once the program has ended, or
//! before it is started again where whoever carried it was killed.

use std::ffi::OsString;
use std::pin::pin;
use std::time::Duration;

use windlass_domain::execution::{Observation, Observed, RunnerCommand, Source};
use windlass_domain::{CancelSignal, Canceller, Host, Stop};
use windlass_sandbox::{Command, Status};

use super::ending::End;
use super::foreign::ForeignRunner;
use crate::{Look, Naming};

/// For a program that has to start for it, on a machine that is busy.
const LOOKING: Duration = Duration::from_secs(30);
/// Whoever has it pause waits for it no longer than this.
const LOOKING_AFTER_A_PAUSE: Duration = Duration::from_secs(5);

impl ForeignRunner {
    /// Has the name on record. One that cannot be found is done without: the next launch begins a new conversation.
    pub(super) async fn learn_name(&self, host: &dyn Host, naming: &Naming, cancel: &CancelSignal) -> Result<(), End> {
        let Naming::Kept(look) = naming else { return Ok(()) };
        // Whoever has asked no model has begun no conversation.
        if host.state().foreign.last_exchange == 0 {
            return Ok(());
        }
        // A program is started for it, which nobody is asked about.
        self.sweep(cancel).await?;
        let Some(session_id) = self.found(cancel, look).await? else { return Ok(()) };
        if host.state().foreign.session_id.as_ref() == Some(&session_id) {
            return Ok(());
        }
        // Once for each launch: somebody may go back to a conversation that was there before.
        let event_id = format!("session:{session_id}:{}", host.state().foreign.launches);
        let observation = Observation::Session { session_id };
        let named = RunnerCommand::Observe(Box::new(Observed { event_id, source: Source::Provider, observation }));
        host.record(vec![named]).await.map(drop).map_err(End::Refused)
    }

    /// The same once a pause was heard: a fork goes on with the conversation, and asks nobody but the record for its name. What takes too long is
    /// ended and not dropped, since a record may be on its way.
    pub(super) async fn learn_name_after_a_pause(&self, host: &dyn Host, naming: &Naming) {
        let canceller = Canceller::default();
        let signal = canceller.signal();
        let mut learning = pin!(self.learn_name(host, naming, &signal));
        tokio::select! {
            biased;
            _it_is_known_or_done_without = &mut learning => return,
            () = self.setup.runtime.sleep(LOOKING_AFTER_A_PAUSE) => canceller.stop(Stop::Pause),
        }
        let _it_is_looked_for_at_the_next_launch = learning.await;
    }

    async fn found(&self, cancel: &CancelSignal, look: &Look) -> Result<Option<String>, End> {
        let mut command = Command::new(look.argv.iter().map(OsString::from));
        command.env = look.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        command.timeout = LOOKING;
        let exit = match self.ran(cancel, command).await {
            Ok(exit) => exit,
            Err(stopped @ End::Stopped(_)) => return Err(stopped),
            Err(_) => return Ok(None),
        };
        let printed = String::from_utf8_lossy(&exit.stdout);
        Ok(if exit.status == Status::Code(0) { (look.read)(&printed) } else { None })
    }
}
