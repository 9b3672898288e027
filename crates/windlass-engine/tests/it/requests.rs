//! Requests under a key: heard once, answered again, and heard anew where whoever had the key gave it back.

use windlass_domain::Digest;
use windlass_engine::{Claim, KeptAnswer};

use crate::court::Court;

fn digest(words: &str) -> Digest {
    Digest::of(words.as_bytes())
}

#[test]
fn a_key_is_one_request_s_until_it_is_answered_and_then_too() {
    let court = Court::new(Vec::new());
    let engine = court.process();
    let (key, one) = (digest("key"), digest("one"));
    let claim = |request| court.wait(engine.claim_request(key, request)).unwrap();
    assert_eq!(claim(one), Claim::New);
    assert_eq!(claim(one), Claim::Unanswered);
    assert_eq!(claim(digest("another")), Claim::Another);
    let answer = KeptAnswer { status: 202, body: "{}".to_owned() };
    court.wait(engine.answer_request(key, &answer)).unwrap();
    assert_eq!(claim(one), Claim::Answered(answer));
    assert_eq!(claim(digest("another")), Claim::Another);
}

#[test]
fn a_key_that_is_given_back_may_be_claimed_again_for_the_same_and_by_one() {
    let court = Court::new(Vec::new());
    let (engine, beside) = (court.process(), court.process());
    let (key, one) = (digest("key"), digest("one"));
    let claim = |request| court.wait(engine.claim_request(key, request)).unwrap();
    for _ in 0..3 {
        assert_eq!(claim(one), Claim::New);
        assert_eq!(court.wait(beside.claim_request(key, one)).unwrap(), Claim::Unanswered);
        court.wait(engine.give_back_request(key)).unwrap();
        assert_eq!(claim(digest("another")), Claim::Another);
    }
    assert_eq!(claim(one), Claim::New);
    let answer = KeptAnswer { status: 200, body: "done".to_owned() };
    court.wait(engine.answer_request(key, &answer)).unwrap();
    assert_eq!(claim(one), Claim::Answered(answer));
}
