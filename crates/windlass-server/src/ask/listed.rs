//! A page of a list that is at hand as a whole. Each thing in it has a place, by which the list is in order and which it keeps while others
//! come and go: the next page begins behind the place where the one before ended, whether or not what stood there is still in the list.

use std::fmt;
use std::str::FromStr;

use super::Page;

/// For what has no number in its list: when it was, and its name among those of the same moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub millis: u64,
    pub name: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.millis, self.name)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (millis, name) = text.split_once('.').ok_or(())?;
        Ok(Self { millis: millis.parse().map_err(|_| ())?, name: name.to_owned() })
    }
}

/// What is on the page, and where the next one begins.
pub fn listed<C: Ord + fmt::Display, T>(
    all: impl IntoIterator<Item = (C, T)>,
    page: &Page<C>,
) -> (Vec<T>, Option<String>) {
    let mut all: Vec<(C, T)> = all.into_iter().collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut rest = all.into_iter().filter(|(place, _)| page.after.as_ref().is_none_or(|after| place > after));
    let (mut shown, mut last) = (Vec::new(), None);
    for (place, thing) in rest.by_ref().take(page.limit) {
        shown.push(thing);
        last = Some(place);
    }
    let next = rest.next().and(last).map(|last| last.to_string());
    (shown, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(millis: u64, name: &str) -> Place {
        Place { millis, name: name.to_owned() }
    }

    #[test]
    fn pages_one_after_the_other_are_all_of_it() {
        let all = [place(2, "b"), place(1, "z"), place(2, "a"), place(10, "c")].map(|place| (place.clone(), place));
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let (shown, next) = listed(all.clone(), &Page { limit: 2, after });
            seen.extend(shown.into_iter().map(|place| place.name));
            let Some(next) = next else { break };
            after = Some(next.parse().unwrap());
        }
        assert_eq!(seen, ["z", "a", "b", "c"]);
    }

    #[test]
    fn what_went_meanwhile_moves_nothing() {
        let left = [place(1, "z"), place(3, "c")].map(|place| (place.clone(), place.name));
        let (shown, next) = listed(left, &Page { limit: 5, after: Some(place(2, "a")) });
        assert_eq!((shown, next), (vec!["c".to_owned()], None));
    }

    #[test]
    fn a_place_is_read_as_it_is_written() {
        assert_eq!(place(7, "a.b").to_string().parse(), Ok(place(7, "a.b")));
        for nonsense in ["", "7", "x.y", "-1.y"] {
            assert!(nonsense.parse::<Place>().is_err(), "{nonsense}");
        }
    }
}
