//! The executor itself: who goes on, when the clock moves, and what dying means.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass_domain::{BoxFuture, Runtime};
use windlass_simulator::{Chance, Curtain, Fate, Fuse, Happening, Point, Process, Side, Simulation};

const POINT: Point = Point::Block(Side::Before);

struct Bench {
    simulation: Simulation,
    folder: tempfile::TempDir,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("world")).expect("a folder");
        Self { simulation: Simulation::new(seed), folder, notes: Arc::default() }
    }

    fn process(&self, burns: Option<(u64, Fate)>) -> Process {
        let curtain = Curtain::new(&self.folder.path().join("world"));
        Process::new(&self.simulation, Arc::new(Fuse::new(burns)), curtain, Chance::Common)
    }

    fn note(&self) -> impl Fn(&str) + Clone + Send + 'static {
        let notes = Arc::clone(&self.notes);
        move |text: &str| notes.lock().expect("nobody panics with it").push(text.to_owned())
    }

    fn notes(&self) -> Vec<String> {
        self.notes.lock().expect("nobody panics with it").clone()
    }
}

fn boxed(future: impl Future<Output = ()> + Send + 'static) -> BoxFuture<'static, ()> {
    Box::pin(future)
}

#[test]
fn the_clock_moves_only_when_nobody_is_ready_and_to_what_is_due_next() {
    let bench = Bench::new(1);
    let process = bench.process(None);
    for seconds in [3, 1, 2] {
        let (inner, note) = (process.clone(), bench.note());
        process.spawn(boxed(async move {
            inner.sleep(Duration::from_secs(seconds)).await;
            note(&format!("{seconds} at {:?}", inner.now().elapsed_since_start()));
        }));
    }
    let main = process.clone();
    bench.simulation.start(process.id, boxed(async move { main.sleep(Duration::from_secs(9)).await }));
    assert_eq!(bench.simulation.run(), Happening::Exited(process.id));
    assert_eq!(bench.notes(), ["1 at 1s", "2 at 2s", "3 at 3s"]);
    assert_eq!(bench.simulation.now(), Duration::from_secs(9));
    assert_eq!(bench.simulation.run(), Happening::Empty);
}

#[test]
fn the_seed_chooses_who_goes_first() {
    let order = |seed| {
        let bench = Bench::new(seed);
        let process = bench.process(None);
        for name in ["a", "b", "c", "d"] {
            let note = bench.note();
            process.spawn(boxed(async move { note(name) }));
        }
        let main = process.clone();
        bench.simulation.start(process.id, boxed(async move { main.sleep(Duration::from_secs(1)).await }));
        bench.simulation.run();
        bench.notes()
    };
    assert_eq!(order(7), order(7));
    assert!((8..20).any(|seed| order(seed) != order(7)));
}

#[test]
fn nothing_of_a_dead_process_runs_again_and_nothing_it_drops_is_found() {
    struct Tidy(std::path::PathBuf);
    impl Drop for Tidy {
        fn drop(&mut self) {
            let _gone = std::fs::remove_file(&self.0);
        }
    }
    let bench = Bench::new(1);
    let left = bench.folder.path().join("world").join("left");
    std::fs::write(&left, "here").expect("a file");
    let process = bench.process(Some((2, Fate::Dies)));
    let (inner, note, tidy) = (process.clone(), bench.note(), Tidy(left.clone()));
    process.spawn(boxed(async move {
        inner.sleep(Duration::from_secs(1)).await;
        note("another task of the dead");
    }));
    let (main, note) = (process.clone(), bench.note());
    bench.simulation.start(
        process.id,
        boxed(async move {
            let _tidy = tidy;
            main.pass(POINT).await;
            note("alive");
            let side = async {
                main.pass(POINT).await;
                note("after death");
            };
            futures_util::future::join(side, async { note("beside death") }).await;
        }),
    );
    assert_eq!(bench.simulation.run(), Happening::Died(process.id));
    assert!(!left.exists(), "the folder is away while the dead are taken apart");
    Curtain::new(&bench.folder.path().join("world")).lift();
    assert_eq!(bench.notes(), ["alive"]);
    assert!(left.exists(), "a killed process does not tidy up");
    assert_eq!(bench.simulation.run(), Happening::Empty);
}

#[test]
fn a_stalled_process_stands_still_while_time_passes_and_then_goes_on() {
    let bench = Bench::new(1);
    let process = bench.process(Some((1, Fate::Stalls(Duration::from_secs(30)))));
    let (main, note) = (process.clone(), bench.note());
    bench.simulation.start(
        process.id,
        boxed(async move {
            main.pass(POINT).await;
            note(&format!("{}", main.now().elapsed_since_start().as_secs()));
        }),
    );
    assert_eq!(bench.simulation.run(), Happening::Stalled(process.id));
    assert_eq!(bench.simulation.run(), Happening::Exited(process.id));
    assert_eq!(bench.notes(), ["30"]);
}

#[test]
fn waiting_for_what_never_comes_is_noticed() {
    let bench = Bench::new(1);
    let process = bench.process(None);
    bench.simulation.start(process.id, boxed(std::future::pending()));
    assert_eq!(bench.simulation.run(), Happening::Stuck);
    let process = bench.process(None);
    let main = process.clone();
    bench.simulation.start(
        process.id,
        boxed(async move {
            loop {
                main.sleep(Duration::from_secs(1)).await;
            }
        }),
    );
    assert_eq!(bench.simulation.run(), Happening::Endless);
}

#[test]
fn every_process_has_its_own_monotonic_clock_and_all_share_the_wall() {
    let bench = Bench::new(1);
    let first = bench.process(None);
    bench.simulation.skip(Duration::from_secs(5));
    let second = bench.process(None);
    assert_eq!(first.now() - second.now(), Duration::from_secs(5));
    assert_eq!(first.wall(), second.wall());
}
