//! Money, times and ids at their edges: nothing is lost in writing, nothing wraps, nothing panics.

use proptest::prelude::*;

use windlass_domain::{Digest, TaskId, Usage, Usd, Wall};

proptest! {
    /// A billion dollars' worth of billionths would not fit a float; a million does, to the last one.
    #[test]
    fn money_survives_being_written_to_the_last_billionth(nanos in 0..1_000_000_000_000_000_u64) {
        let amount = Usd::from_nanos(nanos);
        let text = serde_json::to_string(&amount).expect("a number");
        prop_assert_eq!(serde_json::from_str::<Usd>(&text).expect("the same"), amount);
    }

    #[test]
    fn any_number_of_dollars_is_an_amount(dollars in any::<f64>()) {
        let amount = Usd::from_dollars(dollars);
        prop_assert!(dollars > 0.0 || amount == Usd::ZERO);
        prop_assert!(amount.as_dollars() >= 0.0 && !amount.to_string().is_empty());
    }

    #[test]
    fn adding_up_saturates(a in any::<u64>(), b in any::<u64>()) {
        let mut money = Usd::from_nanos(a);
        money += Usd::from_nanos(b);
        prop_assert_eq!(money.as_nanos(), a.saturating_add(b));
        let mut usage = Usage { input: a, output: b, cached_input: a, cache_write: b };
        usage += usage;
        prop_assert_eq!(usage.total(), a.saturating_mul(2).saturating_add(b.saturating_mul(2)));
    }

    #[test]
    fn every_time_can_be_written_and_times_sort_as_their_text(a in 0..4_102_444_800_000_u64, b in 0..4_102_444_800_000_u64) {
        let (a, b) = (Wall::from_millis(a), Wall::from_millis(b));
        prop_assert_eq!(a.cmp(&b), a.to_rfc3339().cmp(&b.to_rfc3339()));
    }

    #[test]
    fn an_id_survives_text_and_sorts_by_time(a in 0..1_u64 << 48, b in 0..1_u64 << 48, dice in any::<(u128, u128)>()) {
        let older = TaskId::new(Wall::from_millis(a), dice.0);
        let newer = TaskId::new(Wall::from_millis(b), dice.1);
        prop_assert_eq!(older.to_string().parse(), Ok(older));
        prop_assert!(a == b || (a < b) == (older < newer));
        prop_assert_eq!(older.short().len(), 8);
    }

    #[test]
    fn what_is_no_digest_is_refused_and_never_panics(text in any::<String>()) {
        prop_assert_eq!(text.parse::<Digest>().is_ok(), text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()));
    }
}

#[test]
fn the_end_of_time_can_be_written() {
    assert!(Wall::from_millis(u64::MAX).to_rfc3339().ends_with('Z'));
    assert_eq!(Wall::from_millis(u64::MAX) + std::time::Duration::MAX, Wall::from_millis(u64::MAX));
}

#[test]
fn sixty_four_signs_that_are_no_hex_digits_are_no_digest() {
    for text in ["g0".repeat(32), "é".repeat(32), " 1".repeat(32)] {
        assert!(text.parse::<Digest>().is_err(), "{text}");
    }
}
