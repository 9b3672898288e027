//! Racing for the uses of approval tokens. Whoever wants one reads the approval's stream, has the token verified, and claims
//! the use with a commit; whoever loses reads again, until there is nothing left to win. The commit carries nonces and
//! nothing else that could refuse it, so that they alone must do.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::json;
use windlass_domain::approval::{
    ApprovalCommand, ApprovalEvent, ApprovalScope, ApprovalState, ApprovalToken, Binding, Card, CardId, Decided,
    Issued, Nonce, Requested, RiskLevel, Strength, TokenId, Verdict, decide,
};
use windlass_domain::{Digest, Runtime as _, Seq, Taint, Tenant};
use windlass_policy::approve::{Order, OwnerKey, PublicKeys, Refusal, Subject, issue, verify};
use windlass_store::{Commit, Error, NewEvent, Store, StreamId};

use crate::process::BEGINNING;
use crate::queues::What;
use crate::queues::scene::{AGAIN, tenant};
use crate::queues::worker::Worker;

/// How often each token may be used.
pub const USES: [u32; 2] = [1, 3];

static KEY: LazyLock<OwnerKey> = LazyLock::new(|| OwnerKey::new(&[7; 32]));
static KEYS: LazyLock<PublicKeys> = LazyLock::new(|| {
    let mut keys = PublicKeys::default();
    keys.add(&KEY.public()).expect("a good key");
    keys
});
/// Signed once: a signature takes longer than a short history.
static BEGINNINGS: LazyLock<[[ApprovalEvent; 3]; 2]> = LazyLock::new(|| [0, 1].map(beginning));

pub fn whose() -> Tenant {
    tenant(0)
}

fn card(token: u8) -> Card {
    Card {
        card_id: CardId::new(BEGINNING, (u128::from(token) + 1) << 64),
        intent: "haul".into(),
        risk_level: RiskLevel::Medium,
        rationale: "it was asked for".into(),
        consequence_label: "moves a load".into(),
        affected_items: Vec::new(),
        details: json!({"argv": ["haul"]}),
        worst_case: None,
        expires_at: BEGINNING + Duration::from_hours(24 * 365),
        binds: Binding {
            tenant: whose(),
            work_item_id: format!("item-{token}"),
            scope: ApprovalScope::SingleStep,
            plan_hash: Some(Digest::of(b"plan")),
            binding_hash: None,
            spawn_policy_hash: None,
            max_executions: USES[usize::from(token)],
        },
    }
}

/// An approval up to its token.
fn beginning(token: u8) -> [ApprovalEvent; 3] {
    let (card, verdict) = (card(token), Verdict::Approved);
    let approval_strength = Strength::Explicit;
    let decision =
        Decided { verdict, by: "owner".into(), approval_strength, conditions: Vec::new(), note: String::new() };
    let order = Order {
        card: &card,
        decision: &decision,
        token_id: TokenId::new(BEGINNING, (u128::from(token) + 1) << 64),
        nonce: Nonce::new(u128::from(token)),
        issued_at: BEGINNING,
        expires_at: card.expires_at,
    };
    let token = issue(order, &KEY).expect("plain data");
    [
        ApprovalEvent::Requested(Requested { card }),
        ApprovalEvent::Decided(decision),
        ApprovalEvent::Issued(Issued { token }),
    ]
}

pub fn stream_of(token: u8) -> StreamId {
    StreamId::new("approval", CardId::new(BEGINNING, (u128::from(token) + 1) << 64))
}

fn on_stream(token: u8, event: &ApprovalEvent, at: windlass_domain::Wall) -> NewEvent {
    NewEvent { stream: stream_of(token), encoded: event.encode(), taint: Taint::Auth, at }
}

/// What is in the store before a history begins, if anybody races in it.
pub fn issued_tokens() -> Commit {
    let mut commit = Commit::unfenced(whose(), BEGINNING);
    for (token, events) in (0..).zip(&*BEGINNINGS) {
        commit.events.extend(events.iter().map(|event| on_stream(token, event, BEGINNING)));
    }
    commit
}

pub async fn race(worker: Arc<Worker>, token: u8, at: Duration) {
    let process = &worker.process;
    let nonce = Nonce::new(process.random());
    process.sleep(at).await;
    loop {
        match spend(&worker, token, nonce).await {
            Ok(Spent::Won) => return process.tell(What::Raced { token, won: true }),
            Ok(Spent::NothingLeft) => return process.tell(What::Raced { token, won: false }),
            Err(Error::NonceUsed { .. }) => {}
            Err(Error::DiskFull { .. }) => process.sleep(AGAIN).await,
            Err(error) => return process.tell(What::Broken(format!("racing: {error}"))),
        }
    }
}

enum Spent {
    Won,
    NothingLeft,
}

async fn spend(worker: &Worker, number: u8, nonce: Nonce) -> Result<Spent, Error> {
    let (process, store) = (&worker.process, &*worker.store);
    let state = read(store, number).await?;
    let token = state.token().expect("it was issued before anybody began");
    let subject = subject(number, &token);
    let proof = match verify(&token, &subject, &KEYS, process.wall(), nonce) {
        Ok(proof) => proof,
        Err(Refusal::UsedUp(_)) => return Ok(Spent::NothingLeft),
        Err(refusal) => {
            process.tell(What::Broken(format!("verifying: {refusal}")));
            return Ok(Spent::NothingLeft);
        }
    };
    let mut commit = Commit::unfenced(whose(), process.wall());
    commit.nonces.extend(proof.claims().map(windlass_store::Nonce));
    let verified = decide(&state, ApprovalCommand::Verify(Box::new(proof)), process.wall());
    let verified = verified.expect("what was verified can be recorded");
    commit.events.push(on_stream(number, &verified, process.wall()));
    store.commit(commit).await.map(|_| Spent::Won)
}

async fn read(store: &dyn Store, token: u8) -> Result<ApprovalState, Error> {
    let mut state = ApprovalState::default();
    for event in store.stream(&whose(), &stream_of(token), Seq(0), 100).await? {
        let event = ApprovalEvent::decode(&event.kind, event.version, &event.data);
        state.apply(&event.expect("written a moment ago"));
    }
    Ok(state)
}

fn subject(number: u8, token: &ApprovalToken) -> Subject {
    let Binding { tenant, work_item_id, scope, plan_hash, binding_hash, spawn_policy_hash, .. } = card(number).binds;
    Subject {
        tenant,
        work_item_id,
        scope,
        plan_hash,
        binding_hash,
        spawn_policy_hash,
        least_strength: Strength::Explicit,
        executions_used: token.executions_used,
        execution_nonces: token.execution_nonces.clone(),
    }
}
