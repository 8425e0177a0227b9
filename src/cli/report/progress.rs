//! The progress bar: one line on stderr, shown once the work takes noticeably long.

use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use crate::cli::args::Progress as When;

/// Shorter work ends before a bar could be read.
const PATIENCE: Duration = Duration::from_millis(500);

/// The unit of a phase.
#[derive(Clone, Copy)]
pub(in crate::cli) enum Unit {
    Bytes,
    Passes,
    Records,
    Runs,
    /// Nothing is counted; only the time is shown.
    Time,
}

/// The progress of one command, phase by phase. Dropping it removes the bar.
#[derive(Clone)]
pub(in crate::cli) struct Progress(ProgressBar);

impl Progress {
    pub(in crate::cli) fn new(when: When) -> Self {
        let terminal = io::stderr().is_terminal();
        let patience = match when {
            When::Always => Duration::ZERO,
            When::Auto if terminal => PATIENCE,
            When::Auto | When::Never => return Self(ProgressBar::hidden()),
        };
        let line = Line { term: Term::stderr(), terminal, visible_from: Instant::now() + patience };
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(line), if terminal { 10 } else { 2 });
        // Nothing before the first phase.
        let bar = ProgressBar::with_draw_target(None, target).with_style(style(""));
        // Phases without reports must still look alive.
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Begins a phase of `total` units, or of unknown length.
    pub(in crate::cli) fn phase(&self, name: impl Into<Cow<'static, str>>, unit: Unit, total: Option<u64>) {
        let Self(bar) = self;
        if bar.is_hidden() || bar.is_finished() {
            return;
        }
        let count = match (unit, total) {
            (Unit::Bytes, Some(_)) => "{bytes}/{total_bytes}",
            (Unit::Bytes, None) => "{bytes}",
            (Unit::Passes, _) => "{human_pos}/{human_len} passes",
            (Unit::Records, _) => "{human_pos}/{human_len} records",
            (Unit::Runs, _) => "{pos}/{len} runs",
            (Unit::Time, _) => "",
        };
        let template = match total {
            Some(_) => format!("{{msg:8}} [{{bar:30}}] {count}, {{eta}} left"),
            None => format!("{{msg:8}} {{spinner}} {count} {{elapsed}}"),
        };
        bar.reset();
        bar.set_style(style(&template));
        bar.set_message(name);
        if let Some(total) = total { bar.set_length(total) } else { bar.unset_length() }
    }

    /// Sets the progress of the phase.
    pub(in crate::cli) fn set(&self, done: u64) {
        if !self.0.is_finished() {
            self.0.set_position(done);
        }
    }

    /// Removes the bar for good, so that data can be written to the same terminal.
    pub(in crate::cli) fn end(&self) {
        self.0.finish_and_clear();
    }

    /// Prints a note on stderr, above the bar.
    pub(in crate::cli) fn note(&self, text: &str) {
        self.suspend(|| crate::cli::say(text));
    }

    /// Runs `print`, which may write to the terminal that shows the bar.
    pub(in crate::cli) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constants; the default bar is a fallback.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

/// Draws the bar: not until `visible_from`; then in place on a terminal, and as a line per state
/// elsewhere.
#[derive(Debug)]
struct Line {
    term: Term,
    terminal: bool,
    visible_from: Instant,
}

impl Line {
    fn draw(&self, draw: impl FnOnce(&Term) -> io::Result<()>) -> io::Result<()> {
        if Instant::now() < self.visible_from { Ok(()) } else { draw(&self.term) }
    }

    fn control(&self, draw: impl FnOnce(&Term) -> io::Result<()>) -> io::Result<()> {
        if self.terminal { self.draw(draw) } else { Ok(()) }
    }
}

impl TermLike for Line {
    fn width(&self) -> u16 {
        self.term.size().1
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.control(|term| term.move_cursor_up(n))
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.control(|term| term.move_cursor_down(n))
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.control(|term| term.move_cursor_right(n))
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.control(|term| term.move_cursor_left(n))
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.draw(|term| term.write_line(text))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        match (self.terminal, text.trim_end()) {
            (true, _) => self.draw(|term| term.write_str(text)),
            (false, "") => Ok(()),
            (false, text) => self.draw(|term| term.write_line(text)),
        }
    }

    fn clear_line(&self) -> io::Result<()> {
        self.control(Term::clear_line)
    }

    fn flush(&self) -> io::Result<()> {
        self.draw(Term::flush)
    }
}
