//! What is seen of a run while it runs: a bar on a terminal, messages, parts of results; and Ctrl-C.

use crate::arguments::{Common, Computing};
use crate::terminal;
use crust_api::{Error, Message, Observer, Part, Progress, Session, Stop, Unit, render_warning};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often the bar is drawn.
const TICK: Duration = Duration::from_millis(100);

/// What a command does with parts of its result.
type TakePart<'a> = dyn Fn(&Part<'_>) -> Result<(), Error> + Sync + 'a;

/// The bar, the thread that moves it, and what is said beside it.
pub struct Screen<'a> {
    bar: ProgressBar,
    shown: bool,
    quiet: bool,
    stop: Stop,
    follower: Arc<Follower>,
    /// When the whole run plans to be over, if it does.
    end: Mutex<Option<Instant>>,
    take_part: Option<Box<TakePart<'a>>>,
}

/// Follows transitions, which are counted and not told.
#[derive(Default)]
struct Follower {
    /// Transitions before the work at hand.
    base: AtomicU64,
    follows: AtomicBool,
    ended: AtomicBool,
}

impl<'a> Screen<'a> {
    pub fn new(common: &Common) -> Self {
        let shown = !common.quiet && std::io::stderr().is_terminal();
        let bar = if shown { ProgressBar::new(0) } else { ProgressBar::hidden() };
        let screen = Self {
            bar,
            shown,
            quiet: common.quiet,
            stop: Stop::default(),
            follower: Arc::default(),
            end: Mutex::default(),
            take_part: None,
        };
        if shown {
            let (bar, stop, follower) = (screen.bar.clone(), screen.stop.clone(), Arc::clone(&screen.follower));
            thread::spawn(move || follower.follow(&bar, &stop));
        }
        screen
    }

    /// Does something with each part of a result, without tearing the bar.
    pub fn taking_parts(mut self, take: impl Fn(&Part<'_>) -> Result<(), Error> + Sync + 'a) -> Self {
        self.take_part = Some(Box::new(take));
        self
    }

    /// The session of a run that Ctrl-C ends: the first keeps what there is, the second ends the program.
    pub fn session(&self, computing: &Computing) -> Session<'_> {
        self.session_with(computing.seed, computing.threads, computing.lanes)
    }

    /// The same with the usual number of lanes.
    pub fn threaded_session(&self, seed: u64, threads: Option<NonZero<usize>>) -> Session<'_> {
        self.session_with(seed, threads, Session::default().lanes)
    }

    fn session_with(&self, seed: u64, threads: Option<NonZero<usize>>, lanes: NonZero<usize>) -> Session<'_> {
        interrupt_on_ctrl_c(&self.stop);
        Session { threads, lanes, ..self.short_session(seed) }
    }

    /// The session of a run that is over before anyone would stop it.
    pub fn short_session(&self, seed: u64) -> Session<'_> {
        Session { seed, observer: self, stop: self.stop.clone(), ..Session::default() }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.follower.ended.store(true, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

impl Follower {
    fn follow(&self, bar: &ProgressBar, stop: &Stop) {
        while !self.ended.load(Ordering::Relaxed) {
            if self.follows.load(Ordering::Relaxed) {
                bar.set_position(stop.transitions().saturating_sub(self.base.load(Ordering::Relaxed)));
            }
            thread::sleep(TICK);
        }
    }
}

impl Observer for Screen<'_> {
    fn progress(&self, progress: &Progress<'_>) {
        let (what, total, unit) = match progress {
            Progress::Advance(steps) => return self.bar.inc(*steps),
            Progress::Until(end) => {
                *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(*end);
                return;
            }
            Progress::Begin { what, total, unit } => (*what, *total, *unit),
        };
        let end = *self.end.lock().unwrap_or_else(PoisonError::into_inner);
        self.follower.base.store(self.stop.transitions(), Ordering::Relaxed);
        self.follower.follows.store(unit == Unit::Transitions, Ordering::Relaxed);
        // how long a pilot run takes is not known beforehand
        let template = match unit {
            Unit::Iterations => "{bar:40} {pos}/{len} iterations, {eta} left",
            Unit::Trials if total > 0 => "{msg:36!} {bar:30} {pos}/{len} trials, {eta} left",
            Unit::Transitions if total > 0 => "{msg:44!} {bar:30} {percent:>3} %, {eta} left",
            Unit::Trials => "{msg:36!} {elapsed}",
            Unit::Transitions => "{msg:44!} {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(&format!("{template}{{whole}}")) {
            self.bar.set_style(style.with_key("whole", move |_: &ProgressState, out: &mut dyn Write| {
                let left = end.map(|end| end.saturating_duration_since(Instant::now()).as_secs());
                // A line that cannot be drawn is drawn a moment later.
                let _ = left.map(|left| write!(out, "; the whole run at most {left} s"));
            }));
        }
        self.bar.set_message(what.to_owned());
        self.bar.set_length(total);
        self.bar.reset();
        if self.shown && unit == Unit::Trials {
            self.bar.enable_steady_tick(2 * TICK);
        }
    }

    fn message(&self, message: &Message<'_>) {
        let text = match message {
            Message::Printed(line) => (*line).to_owned(),
            _ if self.quiet => return,
            Message::Warning { text, warning } => render_warning(text, warning, terminal::look(self.quiet)),
            Message::Note(note) => format!("note: {note}"),
            Message::Stage(line) | Message::PrintedInPassing(line) => (*line).to_owned(),
        };
        self.bar.suspend(|| terminal::complain(&text));
    }

    fn part(&self, part: &Part<'_>) -> Result<(), Error> {
        self.take_part.as_ref().map_or(Ok(()), |take| self.bar.suspend(|| take(part)))
    }
}

/// The first Ctrl-C ends the run and keeps what there is, the second ends the program.
fn interrupt_on_ctrl_c(stop: &Stop) {
    /// What shells report for a program that Ctrl-C ended.
    const INTERRUPTED: i32 = 130;
    /// The run that is under way.
    static CURRENT: Mutex<Option<Stop>> = Mutex::new(None);
    let current = || CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    if current().replace(stop.clone()).is_some() {
        return;
    }
    let handler = move || match &*current() {
        Some(stop) if !stop.is_stopped() => stop.stop(),
        _ => std::process::exit(INTERRUPTED),
    };
    // Without a handler, Ctrl-C ends the program at once: worth a word, not worth the run.
    if let Err(error) = ctrlc::set_handler(handler) {
        terminal::complain(&format!("note: Ctrl-C cannot be handled: {error}"));
    }
}
