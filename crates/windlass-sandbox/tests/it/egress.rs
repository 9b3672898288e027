//! The way out: what is on the list is reached, and nothing else, however it is asked for.
//!
//! Names, addresses and the servers behind them are the tests' own; what asks runs in a real sandbox.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use windlass_sandbox::{Addresses, BoxFuture, Egress, EgressLimits, Hosts, Network, Outside, Provider, dial};

use crate::support::{Room, confined, in_time, process};

const PUBLIC: &str = "93.184.215.14";

/// A network of one server, which is behind every address; who resolves and connects is written down.
struct World {
    /// Each name's answers; the last stays.
    names: Mutex<BTreeMap<String, VecDeque<Vec<IpAddr>>>>,
    resolved: Mutex<Vec<String>>,
    dialled: Mutex<Vec<String>>,
    refused: Mutex<Vec<String>>,
    /// What the server was asked.
    heard: Arc<Mutex<Vec<String>>>,
    server: SocketAddr,
    serving: JoinHandle<()>,
}

impl Drop for World {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl World {
    /// Where the server answers this to every request, and says it over and over if `endless`.
    async fn new(answer: &'static str, endless: bool) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = listener.local_addr().expect("an address");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let serving = tokio::spawn(serve(listener, answer, endless, Arc::clone(&heard)));
        let (resolved, dialled, refused) = Default::default();
        Arc::new(Self { names: Mutex::default(), resolved, dialled, refused, heard, server, serving })
    }

    fn name(&self, name: &str, answers: &[&[&str]]) {
        let parse = |answer: &&[&str]| answer.iter().map(|address| address.parse().expect("an address")).collect();
        self.names.lock().expect("a lock").insert(name.to_owned(), answers.iter().map(parse).collect());
    }

    async fn room(self: &Arc<Self>, provider: &dyn Provider, list: &[&str]) -> Room {
        self.room_within(provider, list, EgressLimits::default()).await
    }

    async fn room_within(self: &Arc<Self>, provider: &dyn Provider, list: &[&str], limits: EgressLimits) -> Room {
        let world = Arc::clone(self);
        let watcher = move |refused: &windlass_sandbox::Refused| {
            world.refused.lock().expect("a lock").push(refused.to_string());
        };
        let outside: Arc<dyn Outside> = Arc::clone(self) as _;
        let egress =
            Egress::new(Hosts::parse(list).expect("a list")).outside(outside).watched_by(watcher).limits(limits);
        Room::open_with(provider, |policy| policy.network = Network::Restricted(Arc::new(egress))).await
    }

    fn dialled(&self) -> Vec<String> {
        std::mem::take(&mut *self.dialled.lock().expect("a lock"))
    }

    fn refused(&self) -> Vec<String> {
        std::mem::take(&mut *self.refused.lock().expect("a lock"))
    }
}

async fn serve(listener: TcpListener, answer: &'static str, endless: bool, heard: Arc<Mutex<Vec<String>>>) {
    loop {
        let Ok((mut client, _)) = listener.accept().await else { return };
        let heard = Arc::clone(&heard);
        tokio::spawn(async move {
            let mut asked = Vec::new();
            while !asked.windows(4).any(|four| four == b"\r\n\r\n") {
                if client.read_buf(&mut asked).await.unwrap_or(0) == 0 {
                    return;
                }
            }
            heard.lock().expect("a lock").push(String::from_utf8_lossy(&asked).into_owned());
            let length = if endless { u64::MAX } else { answer.len() as u64 };
            let _ = client.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").as_bytes()).await;
            while client.write_all(answer.as_bytes()).await.is_ok() && endless {}
        });
    }
}

impl Outside for World {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.resolved.lock().expect("a lock").push(name.to_owned());
        let mut names = self.names.lock().expect("a lock");
        let answer = names.get_mut(name).and_then(|answers| match answers.len() {
            1 => answers.front().cloned(),
            _ => answers.pop_front(),
        });
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        self.dialled.lock().expect("a lock").push(address.to_string());
        Box::pin(TcpStream::connect(self.server))
    }
}

/// Sends a head to the proxy that the variables name, and prints what comes back.
const ASK: &str = r#"ask() {
    local proxy=${http_proxy#http://}
    exec 3<>"/dev/tcp/${proxy%:*}/${proxy#*:}" || return 1
    printf %b "$1" >&3
    cat <&3
}
"#;

async fn ask(room: &Room, head: &str) -> String {
    room.says(&format!("{ASK} ask '{}'", head.replace('\n', r"\r\n"))).await
}

async fn get(room: &Room, host: &str) -> String {
    ask(room, &format!("GET http://{host}/ HTTP/1.1\n\n")).await
}

async fn connect(room: &Room, authority: &str) -> String {
    ask(room, &format!("CONNECT {authority} HTTP/1.1\n\nGET / HTTP/1.1\n\n")).await
}

#[tokio::test]
async fn what_is_listed_is_reached_and_nothing_else() {
    for provider in [confined(), Box::new(process())] {
        let world = World::new("hello", false).await;
        world.name("listed.example", &[&[PUBLIC]]);
        world.name("other.example", &[&[PUBLIC]]);
        let room = world.room(&*provider, &["listed.example"]).await;
        for answer in [get(&room, "listed.example").await, connect(&room, "listed.example:443").await] {
            assert!(answer.ends_with("hello"), "{answer}");
        }
        assert_eq!(world.dialled(), [format!("{PUBLIC}:80"), format!("{PUBLIC}:443")]);
        assert!(world.refused().is_empty());

        for answer in [get(&room, "other.example").await, connect(&room, "other.example:443").await] {
            assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("`allowed_hosts`"), "{answer}");
        }
        assert_eq!(world.refused().len(), 2);
        assert!(world.dialled().is_empty() && !world.resolved.lock().unwrap().contains(&"other.example".to_owned()));

        let room = world.room(&*provider, &["listed.example", "other.example"]).await;
        assert!(get(&room, "other.example").await.ends_with("hello"), "the control");
    }
}

/// No way around the proxy, to the server itself, which the owner reaches.
#[tokio::test]
async fn there_is_no_way_but_the_proxy() {
    let world = World::new("hello", false).await;
    let direct = format!("exec 3<>/dev/tcp/127.0.0.1/{}; printf 'x\\r\\n\\r\\n' >&3; cat <&3", world.server.port());
    let room = world.room(&*confined(), &["listed.example"]).await;
    let answer = room.bash(&direct).await;
    assert!(!answer.success(), "{answer:?}");
    let unconfined = world.room(&process(), &["listed.example"]).await;
    assert!(unconfined.says(&direct).await.ends_with("hello"), "the control");

    let sealed = Room::open(&*confined()).await;
    assert!(!sealed.bash("exec 3<>/dev/tcp/127.0.0.1/3128").await.success(), "nobody listens without leave");
    assert_eq!(sealed.says("env | grep -ci proxy || true").await, "0");
    assert!(room.bash("exec 3<>/dev/tcp/127.0.0.1/3128").await.success(), "the control");
}

/// Labels of a name that is looked up would carry data out.
#[tokio::test]
async fn there_is_no_resolver_inside() {
    let world = World::new("hello", false).await;
    let room = world.room(&*confined(), &["listed.example"]).await;
    assert!(!room.bash("test -s /etc/resolv.conf || getent hosts c2VjcmV0.listed.example").await.success());
    assert!(!room.bash("exec 3<>/dev/udp/8.8.8.8/53").await.success(), "nobody to ask by hand either");
    assert_eq!(room.says("getent hosts localhost | wc -l").await, "1", "the control: looking up works");
    assert!(get(&room, "c2VjcmV0.listed.example").await.starts_with("HTTP/1.1 403"));
    assert!(world.resolved.lock().unwrap().is_empty());
}

const SPELLINGS: [&str; 12] = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "169.254.169.254",
    "0xa9fea9fe",
    "10.0.0.1",
    "0",
    "[::1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
];

#[tokio::test]
async fn no_spelling_of_an_address_of_ours_is_reached() {
    let world = World::new("hello", false).await;
    let room = world.room(&*confined(), &SPELLINGS).await;
    for host in SPELLINGS {
        for answer in [get(&room, host).await, connect(&room, &format!("{host}:443")).await] {
            assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("not a public address"), "{host}: {answer}");
        }
    }
    assert_eq!(world.refused().len(), 2 * SPELLINGS.len());
    assert!(world.dialled().is_empty());

    let with_port = SPELLINGS.map(|host| format!("{host}:80"));
    let room = world.room(&*confined(), &with_port.each_ref().map(String::as_str)).await;
    for host in SPELLINGS {
        assert!(get(&room, host).await.ends_with("hello"), "the control: {host}");
    }
}

#[tokio::test]
async fn a_name_with_an_address_of_ours_is_not_reached() {
    let world = World::new("hello", false).await;
    world.name("mixed.example", &[&[PUBLIC, "10.0.0.1"]]);
    world.name("metadata.example", &[&["169.254.169.254"]]);
    let room = world.room(&*confined(), &["mixed.example", "metadata.example"]).await;
    for host in ["mixed.example", "metadata.example"] {
        assert!(get(&room, host).await.contains("not a public address"));
    }
    assert!(world.dialled().is_empty());
    let room = world.room(&*confined(), &["metadata.example:80"]).await;
    assert!(get(&room, "metadata.example").await.ends_with("hello"), "the control, which an operator asked for");
}

/// Public when it is judged, ours when it is connected to.
#[tokio::test]
async fn a_name_is_not_resolved_again_once_it_was_judged() {
    let world = World::new("hello", false).await;
    world.name("rebinding.example", &[&[PUBLIC], &["127.0.0.1"]]);
    let room = world.room(&*confined(), &["rebinding.example"]).await;
    assert!(get(&room, "rebinding.example").await.ends_with("hello"));
    assert_eq!(world.dialled(), [format!("{PUBLIC}:80")]);
    assert!(get(&room, "rebinding.example").await.contains("not a public address"), "judged each time");
    assert!(world.dialled().is_empty());

    in_time(dial(&*world, "rebinding.example", 80, Addresses::Any)).await.expect("the control");
    assert_eq!(world.dialled(), ["127.0.0.1:80"]);
}

#[tokio::test]
async fn a_redirect_is_a_request_like_any_other() {
    let world = World::new("Location: http://169.254.169.254/", false).await;
    world.name("listed.example", &[&[PUBLIC]]);
    let room = world.room(&*confined(), &["listed.example"]).await;
    let answer = get(&room, "listed.example").await;
    let (_, location) = answer.rsplit_once("http://").expect("a redirect");
    assert!(get(&room, location.trim_end_matches('/')).await.starts_with("HTTP/1.1 403"));
    assert_eq!(world.dialled(), [format!("{PUBLIC}:80")], "the proxy follows nothing by itself");
}

#[tokio::test]
async fn a_listed_host_is_listed_on_its_own_ports() {
    let world = World::new("hello", false).await;
    world.name("listed.example", &[&[PUBLIC]]);
    let room = world.room(&*confined(), &["listed.example"]).await;
    let answer = connect(&room, "listed.example:22").await;
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("other ports"), "{answer}");
    assert!(world.dialled().is_empty());
    let room = world.room(&*confined(), &["listed.example:22"]).await;
    assert!(connect(&room, "listed.example:22").await.ends_with("hello"), "the control");
}

/// A server with many names must not be talked into another, nor one request carry a second.
#[tokio::test]
async fn a_plain_request_is_one_request_to_the_host_that_was_judged() {
    let world = World::new("hello", false).await;
    world.name("listed.example", &[&[PUBLIC]]);
    let room = world.room(&*confined(), &["listed.example"]).await;
    let second = "GET /second HTTP/1.1\nHost: other.example\n\n";
    ask(&room, &format!("GET http://listed.example/first HTTP/1.1\nHost: other.example\n\n{second}")).await;
    let heard = world.heard.lock().unwrap().concat();
    assert!(heard.contains("GET /first") && heard.contains("Host: listed.example\r\n"), "{heard}");
    assert!(!heard.contains("other.example") && !heard.contains("second"), "{heard}");

    ask(&room, &format!("CONNECT listed.example:443 HTTP/1.1\n\n{second}")).await;
    assert!(world.heard.lock().unwrap().concat().contains("other.example"), "the control: tunnels are not looked into");
}

#[tokio::test]
async fn an_endless_body_ends() {
    let world = World::new("0123456789", true).await;
    world.name("listed.example", &[&[PUBLIC]]);
    let count = format!("{ASK} ask 'GET http://listed.example/ HTTP/1.1\\r\\n\\r\\n' | wc -c");
    let counted = async |room: &Room| room.says(&count).await.parse::<u64>().expect("a number");

    let limits = EgressLimits { bytes_per_connection: 1 << 20, ..EgressLimits::default() };
    let room = world.room_within(&*confined(), &["listed.example"], limits).await;
    assert!(counted(&room).await <= 1 << 20);
    assert!(world.refused().concat().contains("through one connection"));

    let limits = EgressLimits { bytes_in_all: 1 << 20, ..EgressLimits::default() };
    let room = world.room_within(&*confined(), &["listed.example"], limits).await;
    assert!(counted(&room).await <= 1 << 20);
    assert!(counted(&room).await < 1 << 10, "nothing is left");
    assert!(world.refused().concat().contains("this sandbox's connections"));

    let room = world.room(&*confined(), &["listed.example"]).await;
    let three = count.replace("| wc", "| head -c 3000000 | wc");
    assert_eq!(room.says(&three).await, "3000000", "the control");
}

#[tokio::test]
async fn a_client_that_makes_no_sense_is_told_so() {
    let world = World::new("hello", false).await;
    let room = world.room(&*confined(), &["listed.example"]).await;
    assert!(ask(&room, "GET / HTTP/1.1\nHost: listed.example\n\n").await.starts_with("HTTP/1.1 400"));
    assert!(ask(&room, "GET https://listed.example/ HTTP/1.1\n\n").await.starts_with("HTTP/1.1 400"));
    assert!(connect(&room, "[::1%25lo]:443").await.starts_with("HTTP/1.1 403"));
    let flood = room.says(&format!("{ASK} ask \"$(head -c 100000 /dev/zero | tr '\\0' x)\" | head -1")).await;
    assert!(flood.starts_with("HTTP/1.1 400"), "{flood}");
    assert!(get(&room, "nowhere.listed.example").await.starts_with("HTTP/1.1 403"), "it goes on");
}
