//! Chains as they are when nobody tampers. What is found when somebody does is tested where a provider's files can be
//! reached.

use windlass_domain::{Digest, Seq, Tenant};

use crate::chain::{Break, ChainHead, Verified, verify};
use crate::commit::Commit;
use crate::conformance::fixture::{AnyRuntime, AnyStore, NOW, append, event, message, ok, refused, stream, tenant};
use crate::stream::Position;

async fn verified(store: &AnyStore, name: &Tenant, from: Option<ChainHead>, known: Option<ChainHead>) -> Verified {
    verify(&**store, name, from, known).await.expect("readable")
}

pub(super) async fn a_chain_holds_over_commits_of_all_kinds(store: AnyStore, _: AnyRuntime) {
    let (a, b) = (stream("a"), stream("b"));
    assert_eq!(verified(&store, &tenant(), None, None).await, Verified::Intact { head: None, events: 0 });
    assert_eq!(store.chain_head(&tenant()).await, Ok(None));
    let first = ok(&store, append(&a, 0, &["one", "two", "three"])).await.chain.expect("it has events");
    assert_eq!(first.position, Position(3));
    let mut both = append(&b, 0, &["", "\u{0}", "\u{1f9f5}"]);
    both.events.push(event(&a, "four"));
    let second = ok(&store, both).await.chain.expect("it has events");
    refused(&store, append(&a, 1, &["never"])).await;
    let mut without = Commit::unfenced(tenant(), NOW);
    without.messages.push(message(1, "box"));
    assert_eq!(ok(&store, without).await.chain, None);
    let last = ok(&store, append(&a, 4, &["five"])).await.chain.expect("it has events");
    assert!(first.digest != second.digest && second.digest != last.digest);
    assert_eq!(store.chain_head(&tenant()).await, Ok(Some(last)));
    assert_eq!(verified(&store, &tenant(), None, None).await, Verified::Intact { head: Some(last), events: 8 });
    // More than one page of the walk.
    let many: Vec<String> = (0..2_500).map(|number| number.to_string()).collect();
    let texts: Vec<&str> = many.iter().map(String::as_str).collect();
    for (chunk, seq) in texts.chunks(500).zip((5..).step_by(500)) {
        ok(&store, append(&a, seq, chunk)).await;
    }
    let end = verified(&store, &tenant(), None, None).await;
    assert!(matches!(end, Verified::Intact { head: Some(_), events: 2_508 }), "{end:?}");
}

pub(super) async fn tenants_have_chains_of_their_own(store: AnyStore, _: AnyRuntime) {
    let mut heads = Vec::new();
    for round in 0..3 {
        for name in ["a", "b", "c"] {
            let mut commit = append(&stream("same"), round, &["same"]);
            commit.tenant = Tenant::new(name);
            let head = ok(&store, commit).await.chain.expect("it has events");
            if round == 2 {
                heads.push((name, head));
            }
        }
    }
    for (name, head) in &heads {
        let intact = Verified::Intact { head: Some(*head), events: 3 };
        assert_eq!(verified(&store, &Tenant::new(*name), None, Some(*head)).await, intact);
        assert_eq!(store.chain_head(&Tenant::new(*name)).await, Ok(Some(*head)));
    }
    assert!(heads[0].1.digest != heads[1].1.digest);
    // A tenant that has been quiet while another was busy.
    let busy = append(&stream("busy"), 0, &["x"; 5_000]);
    ok(&store, Commit { tenant: Tenant::new("z"), ..busy }).await;
    assert_eq!(store.chain_head(&Tenant::new("a")).await, Ok(Some(heads[0].1)));
    assert_eq!(store.chain_head(&Tenant::new("nobody")).await, Ok(None));
}

pub(super) async fn a_head_can_be_believed_and_a_known_head_is_met(store: AnyStore, _: AnyRuntime) {
    let a = stream("a");
    let mut heads = Vec::new();
    for seq in 0..5 {
        heads.push(ok(&store, append(&a, seq, &["x"])).await.chain.expect("it has events"));
    }
    let last = heads[4];
    for (passed, from) in heads.iter().enumerate() {
        for known in &heads {
            let verdict = verified(&store, &tenant(), Some(*from), Some(*known)).await;
            assert_eq!(verdict, Verified::Intact { head: Some(last), events: 4 - passed as u64 });
        }
    }
    assert_eq!(store.head(&tenant(), &a).await, Ok(Seq(5)));
}

pub(super) async fn a_head_that_never_was_is_noticed(store: AnyStore, _: AnyRuntime) {
    let a = stream("a");
    let first = ok(&store, append(&a, 0, &["one", "two"])).await.chain.expect("it has events");
    let last = ok(&store, append(&a, 2, &["three", "four"])).await.chain.expect("it has events");
    let wrong = Digest::of(b"wrong");
    let store = &store;
    let broken = |known| async move { verified(store, &tenant(), None, Some(known)).await };
    let edited = |at| Verified::Broken(Break::Edited { at: Position(at) });
    assert_eq!(broken(ChainHead { digest: wrong, ..first }).await, edited(2));
    assert_eq!(broken(ChainHead { position: Position(1), ..first }).await, edited(2));
    assert_eq!(broken(ChainHead { position: Position(3), ..last }).await, edited(4));
    let beyond = ChainHead { position: Position(9), ..last };
    assert_eq!(broken(beyond).await, Verified::Broken(Break::Truncated { after: Position(4) }));
    let from = Some(ChainHead { digest: wrong, ..first });
    assert_eq!(verified(store, &tenant(), from, None).await, edited(4));
}
