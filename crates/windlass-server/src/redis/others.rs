//! The others of the group. What one of them has that is known to be gone is claimed at once, what an unknown one has after a lease's time.
//! What the living have is looked at before something newer is heeded, so that the order of a session holds whoever was given its entries:
//! Redis gives out a stream's entries in their order, so that everything older than ours was given to somebody before.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use redis::{Value, cmd};
use windlass_domain::{Instant, millis};

use super::backlog::{Place, Whose};
use super::delivered::{Delivered, of_entries};
use super::door::Broken;
use super::entry::Inlet;
use super::holding::lives;
use super::inbox::{GROUP, HEAVY, Reading};
use super::scripts::{CLAIM, FORGET, LOOK_AT, run};

const LOOK_EVERY: Duration = Duration::from_secs(3);
const AT_A_TIME: usize = 64;
const IDS_AT_A_TIME: usize = 1_000;

#[derive(Default)]
pub struct Others {
    looked_at: Option<Instant>,
    has_more: bool,
    /// Of each stream, up to where what others have is known.
    known_upto: BTreeMap<Inlet, Place>,
}

impl Others {
    /// There is more to claim of those who are gone, which is older than anything new.
    pub const fn has_more(&self) -> bool {
        self.has_more
    }
}

impl Reading<'_> {
    /// Now and then, and for as long as there is more to claim.
    pub async fn look_around(&mut self) -> Result<(), Broken> {
        let now = self.now();
        let is_time = self.others.looked_at.is_none_or(|at| now - at >= LOOK_EVERY);
        // Full of what others have, it is emptied here and nowhere else; but then one look has to do.
        self.others.has_more &= !self.backlog.is_full();
        if !(is_time || self.others.has_more) {
            return Ok(());
        }
        self.others.looked_at = Some(now);
        self.others.has_more = false;
        self.make_groups().await?;
        for inlet in self.inlets.clone() {
            self.claim(inlet).await?;
            self.forget_what_others_are_done_with(inlet).await?;
        }
        Ok(())
    }

    async fn claim(&mut self, inlet: Inlet) -> Result<(), Broken> {
        let mut ask = cmd("XINFO");
        ask.arg("CONSUMERS").arg(inlet.stream()).arg(GROUP);
        let known: redis::streams::StreamInfoConsumersReply = ask.query_async(&mut self.quick).await?;
        for consumer in known.consumers {
            if consumer.name == self.me {
                continue;
            }
            let idle = match lives(&self.shared.parts, &consumer.name).await? {
                Some(true) => continue,
                Some(false) => 0,
                None => millis(self.shared.parts.lease),
            };
            if consumer.pending > 0 {
                self.claim_from(inlet, &consumer.name, idle).await?;
            } else if u64::try_from(consumer.idle).is_ok_and(|is| is >= idle) {
                run::<()>(&mut self.quick, FORGET, &[inlet.stream()], &[GROUP, &consumer.name]).await?;
            }
        }
        Ok(())
    }

    async fn claim_from(&mut self, inlet: Inlet, consumer: &str, idle: u64) -> Result<(), Broken> {
        let (idle, most, heavy) = (idle.to_string(), AT_A_TIME.to_string(), HEAVY.to_string());
        let arguments = [GROUP, &self.me, consumer, &idle, &most, &heavy];
        let claimed: (Vec<String>, Value, bool) = run(&mut self.quick, CLAIM, &[inlet.stream()], &arguments).await?;
        let (ids, entries, has_more) = claimed;
        let found = of_entries(inlet, entries);
        let there: BTreeSet<Place> = found.iter().map(|entry| entry.place).collect();
        let places: Vec<Place> = ids.iter().filter_map(|id| Place::of(inlet, id)).collect();
        self.others.has_more |= has_more;
        let gone = places.into_iter().filter(|place| !there.contains(place));
        let gone = gone.map(|place| Delivered { place, body: super::delivered::Body::Deleted });
        self.take_in(gone.chain(found).collect(), Whose::Ours).await
    }

    /// What others have that is older than the newest of these.
    pub async fn learn_of_others(&mut self, delivered: &[Delivered]) -> Result<(), Broken> {
        let mut newest: BTreeMap<Inlet, Place> = BTreeMap::new();
        for entry in delivered {
            let place = newest.entry(entry.place.inlet).or_insert(entry.place);
            *place = entry.place.max(*place);
        }
        for (inlet, upto) in newest {
            let known = self.others.known_upto.get(&inlet).copied();
            if known.is_none_or(|known| known < upto) && self.have_others_anything(inlet).await? {
                self.learn(inlet, known, upto).await?;
            }
            self.others.known_upto.insert(inlet, known.map_or(upto, |known| known.max(upto)));
        }
        Ok(())
    }

    async fn have_others_anything(&mut self, inlet: Inlet) -> Result<bool, Broken> {
        let mut ask = cmd("XPENDING");
        ask.arg(inlet.stream()).arg(GROUP);
        let summary: redis::streams::StreamPendingReply = ask.query_async(&mut self.quick).await?;
        Ok(match summary {
            redis::streams::StreamPendingReply::Empty => false,
            redis::streams::StreamPendingReply::Data(data) => data.consumers.iter().any(|one| one.name != self.me),
            _ => true,
        })
    }

    async fn learn(&mut self, inlet: Inlet, known: Option<Place>, upto: Place) -> Result<(), Broken> {
        let mut from = known;
        loop {
            let (anothers, last) = self.pending(inlet, from, Some(upto)).await?;
            let new: Vec<Place> = anothers.into_iter().filter(|place| !self.backlog.knows(*place)).collect();
            let mut left = new.as_slice();
            while !left.is_empty() {
                let (looked_at, entries) = self.look_at_some(inlet, &left[..left.len().min(AT_A_TIME)]).await?;
                Box::pin(self.take_in(entries, Whose::Anothers)).await?;
                left = &left[looked_at..];
            }
            match last {
                Some(last) => from = Some(last),
                None => return Ok(()),
            }
        }
    }

    /// The first of these, and how many they are: as many as are not too much at once, and at least one.
    async fn look_at_some(&mut self, inlet: Inlet, places: &[Place]) -> Result<(usize, Vec<Delivered>), Broken> {
        let words: Vec<String> =
            std::iter::once(HEAVY.to_string()).chain(places.iter().map(|place| place.id())).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (looked_at, entries): (usize, Value) = run(&mut self.quick, LOOK_AT, &[inlet.stream()], &words).await?;
        Ok((looked_at.clamp(1, places.len()), of_entries(inlet, entries)))
    }

    /// A page of what the others have, and where to go on.
    async fn pending(
        &mut self,
        inlet: Inlet,
        after: Option<Place>,
        upto: Option<Place>,
    ) -> Result<(Vec<Place>, Option<Place>), Broken> {
        let from = after.map_or_else(|| "-".to_owned(), |after| format!("({}", after.id()));
        let to = upto.map_or_else(|| "+".to_owned(), Place::id);
        let mut ask = cmd("XPENDING");
        ask.arg(inlet.stream()).arg(GROUP).arg(from).arg(to).arg(IDS_AT_A_TIME);
        let page: Vec<(String, String, u64, u64)> = ask.query_async(&mut self.quick).await?;
        let last = page.last().filter(|_| page.len() == IDS_AT_A_TIME).and_then(|last| Place::of(inlet, &last.0));
        let others = page.iter().filter(|(_, holder, _, _)| *holder != self.me);
        Ok((others.filter_map(|(id, _, _, _)| Place::of(inlet, id)).collect(), last))
    }

    /// Otherwise those would be kept for ever that nothing has come to wait for.
    async fn forget_what_others_are_done_with(&mut self, inlet: Inlet) -> Result<(), Broken> {
        let upto = self.backlog.anothers(inlet).pop();
        if upto.is_none() {
            return Ok(());
        }
        let (mut still, mut from) = (BTreeSet::new(), None);
        loop {
            let (page, last) = self.pending(inlet, from, upto).await?;
            still.extend(page);
            match last {
                Some(last) => from = Some(last),
                None => break,
            }
        }
        self.backlog.keep_anothers(inlet, &still);
        Ok(())
    }
}
