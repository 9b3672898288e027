//! The supervisor's loop. All that can wake it meets in [`Server::turn`]: a command from the owner, a word on a
//! command's control socket, the end of a minder, a deadline.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener},
    os::fd::{AsFd, OwnedFd},
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        DumpableBehavior, Pid, Resource, Signal, WaitOptions, getpid, kill_process, kill_process_group,
        set_child_subreaper, set_dumpable_behavior, set_parent_process_death_signal, wait,
    },
    stdio::stdin,
};

use super::{
    connect::connect_if_asked,
    job::{Due, Job, Phase, Why},
    last_resort,
    launch::{self, Rlimits, launch},
    link::{self, Order},
    memory, oom, probe,
    score::Score,
    tree,
    watch::{self, Counted, Watch},
};
use crate::{
    Limits, Status,
    clock::now,
    packet::send_packet,
    policy::Home,
    wire::{Answer, BEGUN, Ended, LAUNCH, LISTEN, Listening, Obstacle, Setup},
};

/// More commands than this at once are refused; each costs three descriptors at most and two processes.
const MOST_JOBS: usize = 256;
/// How long strays may survive while other commands are spared.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(10);

/// The program inside every sandbox. Expects its owner's socket as standard input; returns when that closes. To be
/// called before anything else: it closes every other descriptor, its own program's among them. In a container it expects
/// the words `--connect SOCKET` at the end of its command line instead.
pub fn supervise() -> ExitCode {
    match start() {
        Ok(Some(mut server)) => {
            while server.turn() {}
            server.end_everything();
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::FAILURE,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "the owner reads this and shows it to the operator")]
fn complain(error: &io::Error) {
    eprintln!("the supervisor cannot start: {error}");
}

fn start() -> io::Result<Option<Server>> {
    connect_if_asked()?;
    launch::close_from(3);
    let _ = rustix::thread::set_name(c"supervisor");
    let (packet, mut descriptors) = link::receive()?;
    let setup = Setup::decode(&packet).ok_or_else(|| io::Error::other("standard input is not an owner's socket"))?;
    // While it was on its way the lock was held by the message itself, so there was no moment without a holder.
    let lock = descriptors.pop();
    if let Some(what) = setup.bait.as_ref().and_then(probe::escape) {
        send_packet(stdin(), &Answer::NotConfined(what).encode(), &[])?;
        return Ok(None);
    }
    // Bubblewrap's `--die-with-parent` guarded us until here, by `SIGKILL`. From now on that would be wrong: it frees
    // the lock first and kills the commands after. The closed socket tells us in time.
    match setup.bait {
        Some(_) => last_resort::arm()?,
        None => set_parent_process_death_signal(None)?,
    }
    set_child_subreaper(Some(getpid()))?;
    // Before any command could take the port. It is the owner's from now on, in our network.
    let listener = setup.listen.map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port))).transpose()?;
    send_packet(stdin(), &Answer::Ready.encode(), listener.as_ref().map(AsFd::as_fd).as_slice())?;
    drop(listener);
    // Our owner opens our score for us, which it could not once we have closed ourselves to others.
    let (_, mut descriptors) = link::receive()?;
    let score = Score::new(descriptors.pop());
    // Or a command could reopen our descriptors through `/proc`, the lock among them.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(Some(Server::new(setup, lock, score)))
}

struct Server {
    own_pid: i32,
    /// The first process of its own namespaces, so that everything else there is ours to kill and to remove.
    is_alone: bool,
    limits: Limits,
    rlimits: Rlimits,
    watch: Watch,
    next_look: Instant,
    jobs: Vec<Job>,
    home: Home,
    scratch: Option<PathBuf>,
    score: Score,
    _lock: Option<OwnedFd>,
}

impl Server {
    fn new(setup: Setup, lock: Option<OwnedFd>, score: Score) -> Self {
        let own_pid = getpid().as_raw_nonzero().get();
        let has_own_users = setup.bait.as_ref().is_some_and(probe::has_own_users);
        let is_alone = setup.bait.is_some() && own_pid == 1;
        let counted = if is_alone { Counted::Everything(setup.home) } else { Counted::Processes };
        Self {
            own_pid,
            is_alone,
            rlimits: rlimits(&setup, has_own_users),
            watch: Watch { memory: (!setup.memory_held).then_some(counted), processes: !setup.processes_held },
            limits: setup.limits,
            next_look: now(),
            jobs: Vec::new(),
            home: setup.home,
            scratch: setup.scratch,
            score,
            _lock: lock,
        }
    }

    /// Waits for something to happen and deals with it. `false` when the owner is gone.
    fn turn(&mut self) -> bool {
        let ready = self.wait_for_events();
        for index in ready.controls {
            self.hear(index);
        }
        if ready.link && !self.accept() {
            return false;
        }
        self.reap();
        self.look_at_limits();
        self.act_on_deadlines();
        self.finish();
        true
    }

    fn wait_for_events(&self) -> Ready {
        let timeout = self.next_wake().map(|wake| timespec(wake.saturating_duration_since(now())));
        let link = stdin();
        let mut polled = vec![PollFd::new(&link, PollFlags::IN)];
        for job in &self.jobs {
            polled.push(PollFd::new(&job.control, PollFlags::IN));
            // A reaped minder stays readable for ever; a job in grace waits for its tick instead.
            let interest = if job.ended.is_some() { PollFlags::empty() } else { PollFlags::IN };
            polled.push(PollFd::new(&job.minder.ended, interest));
        }
        // An interrupted wait is an early one; every handler below looks for itself.
        let _ = poll(&mut polled, timeout.as_ref());
        let happened = |index: usize| !polled[index].revents().is_empty();
        Ready { link: happened(0), controls: (0..self.jobs.len()).filter(|job| happened(1 + 2 * job)).collect() }
    }

    fn next_wake(&self) -> Option<Instant> {
        let deadlines = self.jobs.iter().filter_map(|job| job.phase.next_wake());
        let tick = self.jobs.iter().any(Job::is_in_grace).then(|| now() + TICK);
        let look = (self.watch.is_needed() && !self.jobs.is_empty()).then_some(self.next_look);
        deadlines.chain(tick).chain(look).min()
    }

    /// Reads a command's control socket: a byte asks for its end, a closed socket demands it.
    fn hear(&mut self, index: usize) {
        let job = &mut self.jobs[index];
        let why = match job.control.read(&mut [0; 16]) {
            Ok(0) => Why::Abandoned,
            Ok(_) => Why::Cancelled,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(_) => Why::Abandoned,
        };
        match (why, job.phase) {
            (Why::Abandoned, Phase::Running { .. } | Phase::Stopping { .. }) => {
                self.kill(index, why);
            }
            (_, Phase::Running { .. }) => self.ask(index, why),
            _ => {}
        }
    }

    /// Takes one packet from the link. `false` when the owner closed it.
    fn accept(&mut self) -> bool {
        match link::receive() {
            Ok((packet, _)) if packet.is_empty() => false,
            Ok((packet, descriptors)) => {
                // An owner that sends nonsense has its descriptors closed, and sees that as the end of the sandbox.
                match &packet[..] {
                    LAUNCH => Order::read(descriptors).into_iter().for_each(|order| self.begin(order)),
                    LISTEN => descriptors.into_iter().for_each(|wanted| hand_over_a_listener(&wanted)),
                    _ => {}
                }
                true
            }
            Err(error) => error.kind() == io::ErrorKind::Interrupted,
        }
    }

    fn begin(&mut self, order: Order) {
        let Order { mut control, request, ends } = order;
        let started = now();
        if self.jobs.is_empty() {
            // Nobody looked while nothing ran; a command that ends at once need not be looked at.
            self.next_look = started + watch::INTERVAL;
        }
        let launched = match self.jobs.len() < MOST_JOBS {
            true => self.score.of_commands(|| launch(&request, ends, &self.rlimits)),
            false => Err((libc::EAGAIN, Obstacle::Program)),
        };
        match launched {
            Ok((minder, terminal)) => {
                if request.is_announced {
                    let passed = terminal.as_ref().map(|terminal| terminal.owners_end.as_fd());
                    let _ = send_packet(control.as_fd(), &[BEGUN], passed.as_slice());
                }
                let terminal = terminal.map(|terminal| terminal.commands_end);
                let phase = Phase::Running { until: started + request.timeout };
                let (grace, oom_kills) = (request.grace, self.oom_kills());
                self.jobs.push(Job {
                    control,
                    minder,
                    _terminal: terminal,
                    started,
                    grace,
                    oom_kills,
                    phase,
                    ended: None,
                });
            }
            Err((errno, obstacle)) => {
                let _ = control.write_all(&Ended::NotStarted(errno, obstacle).encode());
            }
        }
    }

    /// Collects every child that ended. `false` when there is no child left at all.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if let Some(job) = self.jobs.iter_mut().find(|job| job.minder.pid == pid) {
                        job.ended = Some((status, now()));
                    }
                }
                Ok(None) => return true,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    fn look_at_limits(&mut self) {
        if !self.watch.is_needed() || self.jobs.is_empty() || now() < self.next_look {
            return;
        }
        let minders = self.live_minders();
        let found = self.watch.look(&minders, &self.limits);
        // From its end: looking at many processes takes a while, and the rest of the loop has its turn in between.
        self.next_look = now() + watch::INTERVAL;
        if let Some((minder, why)) = found {
            let index = self.jobs.iter().position(|job| raw(job.minder.pid) == minder);
            index.into_iter().for_each(|index| self.kill(index, why));
        }
    }

    fn act_on_deadlines(&mut self) {
        let now = now();
        for index in 0..self.jobs.len() {
            match self.jobs[index].phase.due(now) {
                Due::Nothing => {}
                Due::Ask(why) => self.ask(index, why),
                Due::Kill(why) => self.kill(index, why),
            }
        }
    }

    /// Asks everything below the minder to end. A stopped process hears it only once it goes on.
    fn ask(&mut self, index: usize, why: Why) {
        let job = &mut self.jobs[index];
        job.phase = Phase::Stopping { why, kill_at: now() + job.grace };
        let command = tree::below(&tree::read_table(), raw(job.minder.pid), &BTreeSet::new());
        tree::signal_all(&command, Signal::TERM);
        tree::signal_all(&command, Signal::CONT);
    }

    /// Kills the minder, which makes strays of everything below it.
    fn kill(&mut self, index: usize, why: Why) {
        let job = &mut self.jobs[index];
        job.phase = Phase::Killed { why };
        if job.ended.is_none() {
            let _ = kill_process(job.minder.pid, Signal::KILL);
        }
    }

    /// Reports the commands that are over, after making sure that nothing of them runs.
    fn finish(&mut self) {
        let has_strays = || !tree::own_children(self.own_pid).is_subset(&self.live_minders());
        let is_over = |job: &Job| job.ended.is_some() && !job.is_in_grace();
        if !self.jobs.iter().any(is_over) && (!self.jobs.iter().any(Job::is_in_grace) || has_strays()) {
            return;
        }
        self.sweep();
        if self.is_alone && self.live_minders().is_empty() {
            memory::tidy(&self.limits, self.home);
        }
        let oom_kills = self.oom_kills();
        for job in self.jobs.extract_if(.., |job| job.ended.is_some()) {
            let Some((status, ended)) = job.ended else {
                continue;
            };
            let status = match job.status(status) {
                status if status.may_be_oom() && oom_kills > job.oom_kills => Status::OutOfMemory,
                status => status,
            };
            let report = Ended::With(status, ended.saturating_duration_since(job.started));
            // An owner that went away does not read it, and a full socket cannot happen: it is the only message.
            let _ = (&job.control).write_all(&report.encode());
        }
    }

    /// Returns when there is no stray. Strays of a command that is still in its grace cannot be told from others, so
    /// another command's end cuts that grace short.
    fn sweep(&mut self) {
        let deadline = now() + PATIENCE;
        while self.kill_strays(Spare::Commands) {
            if now() > deadline {
                // Something forks faster than we can stop it. The other commands go with it: better than it going on.
                while self.kill_strays(Spare::Nothing) {}
            }
        }
    }

    /// Rounds until everything that is not spared was killed once. `false` when there was nothing to kill.
    fn kill_strays(&mut self, spare: Spare) -> bool {
        let mut stopped = BTreeSet::new();
        loop {
            let has_children = self.reap();
            let spared = match spare {
                Spare::Commands => self.live_minders(),
                Spare::Nothing => BTreeSet::new(),
            };
            if !has_children || tree::own_children(self.own_pid).is_subset(&spared) {
                return false;
            }
            if spared.is_empty() && self.is_alone {
                kill_all_others();
            } else {
                stopped = tree::stop_or_kill(self.own_pid, &spared, stopped);
            }
            if stopped.is_empty() {
                let _ = poll(&mut [], Some(&timespec(Duration::from_millis(1))));
                return true;
            }
        }
    }

    /// The owner is gone: kill everything, and hold the lock until it is.
    fn end_everything(&mut self) {
        for index in 0..self.jobs.len() {
            self.kill(index, Why::Abandoned);
        }
        self.jobs.clear();
        while self.kill_strays(Spare::Nothing) {}
        if let Some(scratch) = &self.scratch {
            let _ = fs::remove_dir_all(scratch);
        }
    }

    fn oom_kills(&self) -> u64 {
        if self.is_alone { oom::kills() } else { 0 }
    }

    fn live_minders(&self) -> BTreeSet<i32> {
        self.jobs.iter().filter(|job| job.ended.is_none()).map(|job| raw(job.minder.pid)).collect()
    }
}

#[derive(Clone, Copy)]
enum Spare {
    Commands,
    Nothing,
}

struct Ready {
    link: bool,
    controls: Vec<usize>,
}

/// `kill(-1)`: the kernel signals every process of the namespace but its first in one go, so nothing can fork its
/// way out. Only ever called where the canary proved that the namespace is ours.
fn kill_all_others() {
    assert_eq!(getpid(), Pid::INIT, "killing everything is for the first process of a namespace");
    let _ = kill_process_group(Pid::INIT, Signal::KILL);
}

/// A listening socket in our network, to who asked for it. Afterwards nobody in here has it.
fn hand_over_a_listener(wanted: &OwnedFd) {
    // Whoever asked and went away does not hear it.
    let _ = match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) {
        Ok(listener) => send_packet(wanted.as_fd(), &Listening::Here.encode(), &[listener.as_fd()]),
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            send_packet(wanted.as_fd(), &Listening::Not(errno).encode(), &[])
        }
    };
}

fn rlimits(setup: &Setup, has_own_users: bool) -> Rlimits {
    let limits = &setup.limits;
    let mut rlimits = vec![(Resource::Fsize, limits.file_size_bytes), (Resource::Nofile, limits.open_files)];
    rlimits.extend(limits.cpu_seconds.map(|seconds| (Resource::Cpu, seconds)));
    if !setup.memory_held {
        // Per process, so only a help to the watch. Not the address space: runtimes reserve far more than they use.
        rlimits.push((Resource::Data, limits.memory_bytes));
    }
    if !setup.processes_held && has_own_users && counts_per_namespace() {
        rlimits.push((Resource::Nproc, limits.processes));
    }
    rlimits
}

/// Before 5.14 the limit counted all the user's processes on the machine.
fn counts_per_namespace() -> bool {
    let release = rustix::system::uname();
    let release = release.release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(5), Some(14))
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}

fn raw(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}
