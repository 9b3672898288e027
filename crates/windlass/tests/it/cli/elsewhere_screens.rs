//! What a server has to look at, seen from elsewhere: the screens of its agents, while they run and afterwards, and the page of a story.

use super::elsewhere::Away;
use super::screens::{LEAVE, home};
use super::scripts::HELLO;
use super::served_terminals::on_screen;
use super::serving::{serve, token};
use crate::support::{Home, Program, Terminal, shown_but_tokens};

fn attach(away: &Away, id: &str) -> Terminal {
    let size = "stty rows 30 cols 100;";
    let variables = format!("{size} WINDLASS_SERVER={} WINDLASS_TOKEN={}", away.server, away.token);
    let mut terminal = Terminal::start_with(&away.home, &variables, &format!("attach {id}"));
    terminal.types("go\n");
    terminal
}

#[test]
fn a_screen_of_a_servers_is_seen_typed_into_left_and_played_again() {
    let home = home();
    let (served, execution) = on_screen(&home);
    let away = Away::from(&served);

    let mut screen = attach(&away, "");
    screen.wait_for("Ctrl-] twice");
    screen.types("size\n");
    screen.wait_for("SIZE 29 100");
    screen.types(LEAVE);
    let (code, shown) = screen.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains(&format!("it goes on; to see it again: windlass attach {execution}")), "{shown}");

    let reader = away.with_token(&token(&home, "reader", &["--scope", "read"]));
    let mut screen = attach(&reader, &execution);
    screen.wait_for("you may look, and not type");
    screen.types("work\n");
    screen.types(LEAVE);
    assert_eq!(screen.end().0, Some(0));
    assert!(!home.workspace().join("x").exists(), "it was typed by somebody who may not");

    let stranger = attach(&away.with_token("wrong"), &execution).end();
    assert!(stranger.0 == Some(2) && stranger.1.contains("does not take this token"), "{}", stranger.1);
    let unseen = away.windlass(&["attach"]).run().expect(2).stderr;
    assert!(unseen.contains("`windlass attach` needs a terminal"), "{unseen}");

    let mut screen = attach(&away, &execution);
    screen.wait_for("Ctrl-] twice");
    screen.types("quit\n");
    let (code, shown) = screen.end();
    assert!(code == Some(0) && shown.contains("the agent's program has ended"), "{shown}");
    let closed = attach(&away, &execution).end().1;
    assert!(closed.contains("it was recorded: windlass replay"), "{closed}");

    for words in [&["replay", &execution][..], &["replay", "nosuchtask"], &["replay", &execution, "--speed", "0"]] {
        let [here, there] = [home.windlass(words), away.windlass(words)].map(Program::run);
        assert_eq!(shown_but_tokens(&home, &here), shown_but_tokens(&home, &there), "{words:?}");
    }
    let played = away.windlass(&["replay", &execution]).run().expect(0).stdout;
    assert!(played.contains("bye now"), "{played}");
    served.end();
}

#[test]
fn the_page_of_a_story_is_the_same_here_and_there() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let [here, there] = ["here.html", "there.html"].map(|name| home.path().join(name));
    let open = ["trace", "open", "--json", "--output"];
    home.windlass(&[&open[..], &[here.to_str().expect("a plain path")]].concat()).run().expect(0);
    away.windlass(&[&open[..], &[there.to_str().expect("a plain path")]].concat()).run().expect(0);
    let [here, there] = [here, there].map(|file| std::fs::read_to_string(file).expect("a page"));
    assert!(here.contains("hello.txt"), "{here}");
    assert_eq!(here, there);
    served.end();
}
