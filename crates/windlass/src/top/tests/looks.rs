//! How it looks: every page, with and without something on it, at 80 columns and at 40.

use insta::assert_snapshot;

use super::super::input::{Input, Trouble};
use super::super::model::Page;
use super::super::sight::{Look, Stakes, Talk, Told};
use super::super::update::update;
use super::desk::{card, earlier, press, question, reviewing, sat_down, seen, talk, turned_to};
use crate::show::Line;

const WIDE: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 12);

#[test]
fn a_card() {
    let waiting = || vec![card("c1", Stakes::High), card("c2", Stakes::Ordinary), question("q3", &[])];
    assert_snapshot!(seen(&reviewing(WIDE, waiting())), @r#"
     1 Stream [2 Review (3)] 3 Activity                          /home/you/windlass
     3 wait for you · 1 at work

    card c1  high risk
      wants     run a command
      agent     its own words, which nobody has to believe:
      │ I will remove the old file,
      │ because it is old.
      runs      sh -c "rm old.txt<U+202E><U+001B>]52;c;aGk=<U+0007><U+000A>card
                00000000"
      in        /work · sandbox bubblewrap






      then      the file is gone
      at worst  the whole task uses 3 attempts · 200,000 tokens · $2.00 · 30 min

    up next, 2:
    card c2  medium risk  run a command
    question q3  Which colour?
     a approve  d decline  e edit  x everything  ? keys  j k others  Tab pages
    "#);
    assert_snapshot!(seen(&reviewing(SMALL, waiting())), @"
     1 Stream [2 Review (3)] 3 Activity
     3 wait for you · 1 at work
    card c1  high risk
      wants     run a command
      agent     its own words, which nobody
                has to believe:
    … 7 more rows: PgDn, or x
      then      the file is gone
      at worst  the whole task uses 3
                attempts · 200,000 tokens ·
                $2.00 · 30 min
     a approve  d decline  e edit
    ");
}

#[test]
fn a_card_that_is_asked_about_twice_and_one_that_is_declined() {
    let mut model = reviewing(WIDE, vec![card("c1", Stakes::Irreversible)]);
    press(&mut model, "a");
    assert_snapshot!(seen(&model), @r#"
     1 Stream [2 Review (1)] 3 Activity                          /home/you/windlass
     1 waits for you · 1 at work

    card c1  high risk
      wants     run a command
      agent     its own words, which nobody has to believe:
      │ I will remove the old file,
      │ because it is old.
      runs      sh -c "rm old.txt<U+202E><U+001B>]52;c;aGk=<U+0007><U+000A>card
                00000000"
      in        /work · sandbox bubblewrap









      then      the file is gone
      at worst  the whole task uses 3 attempts · 200,000 tokens · $2.00 · 30 min
    ! This cannot be undone. Is it meant? y, or Esc
     y yes, approve it  Esc back  x everything
    "#);
    let mut model = reviewing(SMALL, vec![card("c1", Stakes::Irreversible)]);
    press(&mut model, "d not Space this Space file Space of Space all Space the Space files");
    assert_snapshot!(seen(&model), @"
     1 Stream [2 Review (1)] 3 Activity
     1 waits for you · 1 at work
    card c1  high risk
      wants     run a command
      agent     its own words, which nobody
                has to believe:
    … 7 more rows: PgDn, or x

    Why not? The agent hears it, and goes on
      without.
    › not this file of all the files
     Enter decline  Esc back
    ");
}

#[test]
fn nothing_to_decide() {
    assert_snapshot!(seen(&sat_down(WIDE)), @"
     1 Stream [2 Review] 3 Activity                              /home/you/windlass
     looking …

    Looking what waits for you …



















     ? keys  Tab pages  q leave
    ");
    let mut model = reviewing(WIDE, Vec::new());
    assert_snapshot!(seen(&model), @"
     1 Stream [2 Review] 3 Activity                              /home/you/windlass
     nothing waits for you · 1 at work

    Nobody asks you for anything.

    not over:
    1a2b3c4d  running  Make the tests pass
















     ? keys  Tab pages  q leave
    ");
    update(&mut model, Input::Answered(Ok(vec![Line::new().plain("APPROVED  card c1 · task t1")])));
    update(&mut model, Input::Sized(40, 12));
    assert_snapshot!(seen(&model), @"
     1 Stream [2 Review] 3 Activity
     nothing waits for you · 1 at work
    Nobody asks you for anything.

    not over:
    1a2b3c4d  running  Make the tests pass




    APPROVED  card c1 · task t1
     ? keys  Tab pages  q leave
    ");
}

#[test]
fn a_conversation() {
    for (size, name) in [(WIDE, "wide"), (SMALL, "small")] {
        let mut model = turned_to(reviewing(size, Vec::new()), Page::Stream);
        let look = Look::Talk(model.stream.session);
        update(&mut model, Input::Told(look, talk()));
        press(&mut model, "Enter And");
        match name {
            "wide" => assert_snapshot!(seen(&model), @"
            [1 Stream] 2 Review  3 Activity                              /home/you/windlass
             nothing waits for you · 1 at work

            about /work

            › Which day is it?

            │ Thursday. What else can I do?<U+001B>[2J

            │ … thinking about it

            1a2b3c4d  running  Make the tests pass
                12:00:03  `bash` did its work in 2 s









            say › And
             Enter send  Esc stop writing  Tab pages
            "),
            _ => assert_snapshot!(seen(&model), @"
            [1 Stream] 2 Review  3 Activity
             nothing waits for you · 1 at work

            │ Thursday. What else can I
            │ do?<U+001B>[2J

            │ … thinking about it

            1a2b3c4d  running  Make the tests pass
                12:00:03  `bash` did its work in 2 s
            say › And
             Enter send  Esc stop writing
            "),
        }
    }
}

#[test]
fn a_conversation_in_which_nothing_was_said() {
    let mut model = turned_to(reviewing(SMALL, Vec::new()), Page::Stream);
    let look = Look::Talk(model.stream.session);
    update(&mut model, Input::Told(look, Told::Talk(Talk::default())));
    assert_snapshot!(seen(&model), @"
    [1 Stream] 2 Review  3 Activity
     nothing waits for you · 1 at work
    Nothing was said here yet.
    Enter: say what you would like to know
      or to have done. Small talk is
      answered at once; work waits for your
      yes in Review.




     Enter say something  ? keys
    ");
}

#[test]
fn what_happened() {
    let mut model = turned_to(reviewing(WIDE, Vec::new()), Page::Activity);
    update(&mut model, Input::Told(Look::Before(None), earlier(5..25, None)));
    press(&mut model, "j");
    assert_snapshot!(seen(&model), @"
     1 Stream  2 Review [3 Activity]                             /home/you/windlass
     nothing waits for you · 1 at work

    2026-11-12
      12:00:24  Number 24 happened
    ▸ 12:00:23  Number 23 happened
      12:00:22  Number 22 happened
      12:00:21  Number 21 happened
      12:00:20  Number 20 happened
    2026-11-11
      12:00:19  Number 19 happened
      12:00:18  Number 18 happened
      12:00:17  Number 17 happened
      12:00:16  Number 16 happened
      12:00:15  Number 15 happened
      12:00:14  Number 14 happened
      12:00:13  Number 13 happened
      12:00:12  Number 12 happened
      12:00:11  Number 11 happened
      12:00:10  Number 10 happened
    2026-11-10
      12:00:09  Number 9 happened
      12:00:08  Number 8 happened
     Enter the record  / find  ? keys  x every record  Tab pages  q leave
    ");
    let mut model = turned_to(reviewing(SMALL, Vec::new()), Page::Activity);
    update(&mut model, Input::Told(Look::Before(None), earlier(1..3, None)));
    assert_snapshot!(seen(&model), @"
     1 Stream  2 Review [3 Activity]
     nothing waits for you · 1 at work
    2026-11-10
    ▸ 12:00:02  Number 2 happened
      12:00:01  Number 1 happened
      That is where it began.





     Enter the record  / find  ? keys
    ");
    let record = vec![Line::new().plain("A task is done"), Line::new().dim("task.finished")];
    update(&mut model, Input::Told(Look::Record(2), Told::Record(record)));
    assert_snapshot!(seen(&model), @"
     1 Stream  2 Review [3 Activity]
     nothing waits for you · 1 at work
    A task is done
    task.finished







     Esc back  ↑ ↓ see more
    ");
}

#[test]
fn nothing_has_happened_and_nobody_answers() {
    let mut model = turned_to(reviewing(SMALL, Vec::new()), Page::Activity);
    update(&mut model, Input::Told(Look::Before(None), earlier(0..0, None)));
    update(&mut model, Input::NotTold(Look::Desk, Trouble::Away("the server does not answer".to_owned())));
    assert_snapshot!(seen(&model), @"
     1 Stream  2 Review [3 Activity]
     nothing waits for you · 1 at work
      Nothing like that happened.







    ! the server does not answer
     Enter the record  / find  ? keys
    ");
}

#[test]
fn the_keys() {
    let mut model = reviewing(WIDE, Vec::new());
    press(&mut model, "?");
    assert_snapshot!(seen(&model), @"
     1 Stream [2 Review] 3 Activity                              /home/you/windlass
     nothing waits for you · 1 at work

    Review
      a             approve
      y             the second step, where one is asked for
      d             decline, with a reason
      e             ask for something else
      x             everything, on the whole page
      j k           next, previous
      1–9           take an option of a question
      r Enter       answer a question in words

    Everywhere
      Tab 1 2 3     the pages
      ↑ ↓ PgUp PgDn see more
      ?             these keys
      Ctrl L        paint the screen anew
      q Ctrl C      leave

    Stream
      Enter         write, and send
      Esc           stop writing
     any key back
    ");
}

/// However small it is made.
#[test]
fn no_size_is_too_small() {
    for columns in [0, 1, 7, 20, 200] {
        for rows in [0, 1, 2, 4, 7, 60] {
            for page in Page::ALL {
                let mut model = turned_to(reviewing((columns, rows), vec![card("c1", Stakes::High)]), page);
                press(&mut model, "d Enter words Esc ? x PgDn End");
                if columns > 0 && rows > 0 {
                    seen(&model);
                }
            }
        }
    }
}
