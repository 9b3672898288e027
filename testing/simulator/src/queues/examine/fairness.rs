//! No tenant starves while others are served: of the messages that leave a queue, only so many are others' while a tenant
//! has one that is ready there. The bound is generous, for consumers in a crowd choose by chance.

use std::collections::{BTreeMap, BTreeSet};

use windlass_domain::Tenant;
use windlass_store::DeliveryChange;

use crate::queues::QueueHistory;
use crate::queues::examine::books::{Books, Standing};

const MOST_PASSED_OVER: u32 = 40;

pub fn check(history: &QueueHistory) -> Vec<String> {
    let mut passed_over: BTreeMap<(String, Tenant), u32> = BTreeMap::new();
    let mut starving = BTreeSet::new();
    Books::walk(history, |books, _, commit| {
        let Some(DeliveryChange::Lease { message, from: None, .. }) = commit.deliveries.first() else { return };
        let Some(queue) = books.messages.get(message).map(|kept| &kept.queue) else { return };
        let ready = books.messages.values().filter(|kept| kept.standing == Standing::Ready && kept.queue == *queue);
        let waiting: BTreeSet<&Tenant> = ready.map(|kept| &kept.tenant).collect();
        passed_over.retain(|(of, tenant), _| of != queue || (waiting.contains(tenant) && *tenant != commit.tenant));
        for tenant in waiting.into_iter().filter(|tenant| **tenant != commit.tenant) {
            let times = passed_over.entry((queue.clone(), tenant.clone())).or_default();
            *times += 1;
            if *times > MOST_PASSED_OVER {
                starving.insert(format!("{tenant} starves in {queue}: others were served before it again and again"));
            }
        }
    });
    starving.into_iter().collect()
}
