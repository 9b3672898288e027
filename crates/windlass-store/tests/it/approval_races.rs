//! Many who hold the same approval and use it at once, over the real store: each verifies the token and would record its
//! use, and what the proof claims as nonces decides. All of them see the approval as it was before the race, so that the
//! store alone stands between a token for one execution and sixty-four.

use std::sync::Arc;

use serde_json::Value;
use windlass_domain::approval::{
    Answer, ApprovalCommand, ApprovalScope, ApprovalState, Binding, Card, CardId, Nonce as TokenNonce, RiskLevel,
    Strength, TokenId, Verdict, decide,
};
use windlass_domain::{Digest, Seq, Taint, Tenant, Wall};
use windlass_policy::approve::{Order, OwnerKey, PublicKeys, Subject, issue, verify};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Error, NewEvent, Nonce, Store, StreamId};

use crate::executor::Executor;
use crate::scratch::scratch;

const NOW: Wall = Wall::from_millis(1_790_000_000_000);
const LATER: Wall = Wall::from_millis(1_790_000_600_000);
const RACERS: u64 = 64;

/// Whether a use claims its slot and its nonce.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claims {
    Made,
    LeftOut,
}

struct Race {
    store: SqliteStore,
    keys: PublicKeys,
    approvals: Vec<(StreamId, ApprovalState)>,
    claims: Claims,
}

fn card(number: u64) -> Card {
    Card {
        card_id: CardId::new(NOW, u128::from(number) << 64),
        intent: "Remove the build folder".into(),
        risk_level: RiskLevel::High,
        rationale: "It is stale".into(),
        consequence_label: "deletes files".into(),
        affected_items: Vec::new(),
        details: Value::Null,
        worst_case: None,
        expires_at: LATER,
        binds: Binding {
            tenant: Tenant::local(),
            work_item_id: number.to_string(),
            scope: ApprovalScope::SingleStep,
            plan_hash: None,
            binding_hash: Some(Digest::of(&number.to_be_bytes())),
            spawn_policy_hash: None,
            max_executions: 1,
        },
    }
}

/// Asked, answered and issued.
fn issued(number: u64, key: &OwnerKey) -> ApprovalState {
    let mut state = ApprovalState::Absent;
    let step = |state: &mut ApprovalState, command| {
        let event = decide(state, command, NOW).expect("in its order");
        state.apply(&event);
    };
    step(&mut state, ApprovalCommand::Request(Box::new(card(number))));
    let answer = Answer {
        verdict: Verdict::Approved,
        by: "owner".into(),
        approval_strength: Strength::Confirmed,
        conditions: Vec::new(),
        note: String::new(),
        taint: Taint::Owner,
    };
    step(&mut state, ApprovalCommand::Answer(answer));
    let ApprovalState::Decided { card, decision } = &state else { panic!("it was answered") };
    let order = Order {
        card,
        decision,
        token_id: TokenId::new(NOW, u128::from(number) << 64),
        nonce: TokenNonce::new(u128::from(number)),
        issued_at: NOW,
        expires_at: LATER,
    };
    let token = issue(order, key).expect("plain data");
    step(&mut state, ApprovalCommand::Issue(Box::new(token)));
    state
}

impl Race {
    /// One racer's use of one token. Its nonce is nobody else's: only the slot is shared.
    async fn use_it(&self, number: u64, racer: u64) -> bool {
        let (stream, state) = &self.approvals[usize::try_from(number).expect("few")];
        let binds = card(number).binds;
        let subject = Subject {
            tenant: binds.tenant,
            work_item_id: binds.work_item_id,
            scope: binds.scope,
            plan_hash: binds.plan_hash,
            binding_hash: binds.binding_hash,
            spawn_policy_hash: binds.spawn_policy_hash,
            least_strength: Strength::Confirmed,
            executions_used: 0,
            execution_nonces: Vec::new(),
        };
        let own = TokenNonce::new((u128::from(number) << 64) + u128::from(racer) + 1);
        let token = state.token().expect("it was issued");
        let proof = verify(&token, &subject, &self.keys, NOW, own).expect("the token holds");
        let mut commit = Commit::unfenced(Tenant::local(), NOW);
        if self.claims == Claims::Made {
            commit.nonces.extend(proof.claims().map(Nonce));
        }
        let event = decide(state, ApprovalCommand::Verify(Box::new(proof)), NOW).expect("as it stood");
        commit.events.push(NewEvent { stream: stream.clone(), encoded: event.encode(), taint: Taint::Owner, at: NOW });
        match self.store.commit(commit).await {
            Ok(_) => true,
            Err(Error::NonceUsed { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// How many uses of each token were recorded, and how many racers were told that theirs was.
fn race(tokens: u64, claims: Claims) -> (Vec<u64>, u64) {
    let (folder, executor) = (scratch(), Executor::new());
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    let (key, mut keys) = (OwnerKey::new(&[7; 32]), PublicKeys::default());
    keys.add(&key.public()).expect("a good key");
    let approval = |number| (StreamId::new("approval", card(number).card_id), issued(number, &key));
    let race = Arc::new(Race { store, keys, approvals: (0..tokens).map(approval).collect(), claims });
    let racers: Vec<_> = (0..RACERS)
        .map(|racer| {
            let race = Arc::clone(&race);
            executor.spawn(async move {
                let mut wins = 0;
                for number in 0..tokens {
                    wins += u64::from(race.use_it(number, racer).await);
                }
                wins
            })
        })
        .collect();
    let told = racers.into_iter().map(|racer| executor.run(racer).expect("a racer ends")).sum();
    let recorded = race.approvals.iter().map(|(stream, _)| {
        let Seq(head) = executor.run(race.store.head(&Tenant::local(), stream)).expect("readable");
        head
    });
    (recorded.collect(), told)
}

#[test]
fn sixty_four_racers_on_each_of_a_thousand_tokens_give_exactly_a_thousand_wins() {
    let (recorded, told) = race(1_000, Claims::Made);
    assert_eq!(told, 1_000);
    assert!(recorded.iter().all(|uses| *uses == 1), "each token was used once");
}

#[test]
fn without_the_nonces_more_than_one_wins_each_token() {
    let (recorded, told) = race(20, Claims::LeftOut);
    assert_eq!(told, 20 * RACERS, "the control: nothing else stands in the way");
    assert!(recorded.iter().all(|uses| *uses == RACERS));
}
