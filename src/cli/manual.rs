//! `gpusort completions` and `gpusort man`, generated from the clap commands.

use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use clap::Arg;
use clap::builder::PossibleValue;
use clap_complete::Shell;

use super::end;

pub(super) fn completions(shell: Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::command(), "gpusort", &mut script);
    super::print(&String::from_utf8_lossy(&script))
}

/// Writes the manual page of gpusort as a whole or of one command, or shows it on a terminal.
pub(super) fn page(command: Option<&str>) -> anyhow::Result<()> {
    let mut all = super::command();
    all.build();
    let mut command = command.and_then(|name| all.find_subcommand(name)).unwrap_or(&all).clone();
    let usage = command.render_usage().to_string();
    let command = command.mut_args(|argument| with_values(argument.hide_env(false).hide_short_help(false)));
    let more = command.get_after_long_help().or_else(|| command.get_after_help()).map(ToString::to_string);
    let has_commands = command.has_subcommands();
    let plain = command.clone().render_long_help().to_string();
    let man = clap_mangen::Man::new(command);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    // All options follow: the synopsis need not list them.
    let usage = usage.trim_start_matches("Usage: ").replace("\n       ", "\n.br\n");
    writeln!(page, ".SH SYNOPSIS\n{}", escaped(&usage))?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    sections(&more.unwrap_or_default(), &mut page)?;
    if io::stdout().is_terminal() { show(&page, &plain) } else { super::write(None, &page) }
}

/// Shows a manual page on a terminal: by `man`, or else as plain text in the pager of the
/// environment or `less`, or else all at once, as for an empty `PAGER`.
fn show(page: &[u8], plain: &str) -> anyhow::Result<()> {
    let less = std::env::var_os("PAGER").is_none().then(|| "command -v less >/dev/null && less".into());
    let named = ["MANPAGER", "PAGER"].into_iter().filter_map(std::env::var_os);
    let pager = named.chain(less).find(|name| !name.is_empty());
    let is_shown = reads(Command::new("man").args(["-l", "-"]).stderr(Stdio::null()), page)
        || pager.is_some_and(|pager| reads(Command::new("sh").arg("-c").arg(pager), plain.as_bytes()));
    if is_shown { Ok(()) } else { super::print(plain) }
}

/// Runs the program on this input. True if it succeeded.
fn reads(program: &mut Command, input: &[u8]) -> bool {
    let Ok(mut child) = program.stdin(Stdio::piped()).spawn() else { return false };
    end::leave_interrupts();
    // The reader may quit the pager early.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    child.wait().is_ok_and(|status| status.success())
}

/// The argument with its possible values as a sentence, where a list would take a page.
fn with_values(argument: Arg) -> Arg {
    let values = argument.get_possible_values();
    let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    if names.is_empty() || !argument.get_action().takes_values() {
        return argument;
    }
    let help = argument.get_long_help().or_else(|| argument.get_help()).map(ToString::to_string);
    let help = format!("{}\n\nPossible values: {}.", help.unwrap_or_default(), names.join(", "));
    argument.long_help(help).hide_possible_values(true)
}

/// Formats the help after the options as sections: a line that ends with a colon becomes a heading.
fn sections(help: &str, page: &mut impl Write) -> io::Result<()> {
    let mut lines = help.lines().peekable();
    writeln!(page, ".nf")?;
    while let Some(line) = lines.next() {
        match line.strip_suffix(':').filter(|heading| !heading.starts_with(' ')) {
            Some(heading) => writeln!(page, ".fi\n.SH {}\n.nf", heading.to_uppercase())?,
            // A note alone at the end gets a heading of its own.
            None if line.starts_with('\'') => writeln!(page, ".fi\n.SH NOTES\n.nf\n\\&{}", escaped(line))?,
            None if line.is_empty() && lines.peek().is_none_or(|next| next.ends_with(':')) => {}
            None => writeln!(page, "\\&{}", escaped(line.strip_prefix("  ").unwrap_or(line)))?,
        }
    }
    writeln!(page, ".fi")
}

/// Escapes a line, which must not start with a roff control character.
fn escaped(line: &str) -> String {
    line.replace('\\', "\\e").replace('-', "\\-")
}
