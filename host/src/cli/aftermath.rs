//! Messages about a command whose process ended before its work was done.

use super::args::Command;
use super::cook::{out_folder, resume_command};
use super::screen::Screen;
use super::{FAILED, INTERRUPTED, fail, say, units};
use crate::engine::latest_checkpoint;
use crate::loader::{OPENING, leave_alone};
use crate::process::board::being;
use crate::process::{End, How, Stream, limits};
use std::io::Write;

/// Prints the message, and returns the exit code.
pub(super) fn explain(end: &End, command: &Command) -> u8 {
    let stopped = |signal: &i32| [libc::SIGINT, libc::SIGTERM].contains(signal);
    if matches!(&end.how, How::Signal(signal) if stopped(signal)) {
        return INTERRUPTED;
    }
    if Screen::is_there() {
        // The progress line is still there; where it cannot be cleared nothing can be said either.
        let _ = Stream::Err.write_all(b"\r\x1b[K");
    }
    let code = if matches!(end.how, How::BrokenOff(_)) { INTERRUPTED } else { FAILED };
    match &end.how {
        // The sentence says what to do about it.
        How::Crowded => fail(code, &what(end)),
        _ => fail(code, &format!("{}; {}", what(end).replace(char::is_control, " "), next(end, command))),
    };
    if matches!(command, Command::Cook(a) if a.openjd) && code == FAILED {
        say("openjd_fail: the cook failed, see the messages above\n");
    }
    code
}

/// What happened: who, when, from which plugin.
fn what(end: &End) -> String {
    let seen = &end.seen;
    let from = if seen.plugin.is_empty() { String::new() } else { format!(" ({})", seen.plugin) };
    let last = match seen.subject.as_str() {
        "" => String::new(),
        // Plugins were opened and left again before the work began; what comes from outside has nothing to do with them.
        _ if seen.doing == OPENING && is_from_outside(&end.how) => String::new(),
        subject => format!(", after {subject} {}{from}", seen.doing),
    };
    let (who, doing) = if seen.inside {
        (seen.subject.as_str(), format!(" {}{from}", seen.doing))
    } else {
        ("the program", last)
    };
    // A node may wait for threads of its own plugin: those are its own.
    let waits = |plugin: &String| seen.inside && *plugin == seen.plugin;
    if let Some(plugin) = seen.foreign.as_ref().filter(|plugin| !waits(plugin)) {
        return foreign(
            end,
            plugin,
            &match who {
                "the program" => doing,
                _ => format!(" while {who} was{}", being(&doing)),
            },
        );
    }
    match &end.how {
        How::Exited(code) if seen.inside => {
            format!("{who} ended the program {}, with exit code {code}{from}", seen.doing)
        }
        How::Exited(code) => format!("{who} ended with exit code {code} before its work was done{doing}"),
        How::Signal(libc::SIGKILL) => format!(
            "the system ended the program{}: most likely the memory ran out, it held {}",
            if seen.inside { format!(" while {who} was{}", being(&doing)) } else { doing },
            units::bytes(end.peak)
        ),
        How::Orphaned if seen.inside => format!(
            "the process that stands above the program was killed while {who} was{}: most likely its plugin did that",
            being(&doing)
        ),
        How::Orphaned => format!("the process that stands above the program was killed{doing}"),
        How::FilesClosed if seen.inside => format!("{who} closed files of the program{doing}"),
        How::FilesClosed => format!("a plugin closed files of the program{doing}"),
        How::Hung(seconds) => format!("{who} did not come to an end{doing}; it had {seconds} s"),
        How::Signal(signal) => {
            let other = if seen.foreign.is_some() { ", on another thread" } else { "" };
            let name = format!("{}{other}", signal_name(*signal));
            if seen.inside {
                let plugin =
                    if seen.plugin.is_empty() { String::new() } else { format!("; {}", seen.plugin) };
                format!("{who} crashed {} ({name}{plugin})", seen.doing)
            } else {
                format!("{who} crashed ({name}){doing}")
            }
        }
        How::Starved(bytes) => {
            // C++ does not say how many.
            let bytes =
                if *bytes > 1 { format!("{} more", units::bytes(*bytes as f64)) } else { "more".into() };
            let peak = units::bytes(end.peak);
            let (when, after) = if seen.inside { (doing, String::new()) } else { (String::new(), doing) };
            let limit = limits::address_space().map_or(String::new(), |limit| format!(" ({limit})"));
            format!(
                "{who} needed {bytes} memory{when} and could not have it, the program held {peak}{limit}{after}"
            )
        }
        How::Crowded => limits::no_thread("begin a thread or process"),
        How::OutOfTime(seconds) => format!(
            "the system ended the program{}: it had {seconds} s of processor time, which is its limit (`ulimit -t`)",
            if seen.inside { format!(" while {who} was{}", being(&doing)) } else { doing }
        ),
        How::BrokenOff(after) => {
            let doing = if seen.inside { format!(", while {who} was{}", being(&doing)) } else { doing };
            format!("broken off {:.1} s after it was told to stop{doing}", after.as_secs_f64())
        }
    }
}

/// Whether somebody else ended the process.
fn is_from_outside(how: &How) -> bool {
    matches!(how, How::Orphaned | How::Signal(libc::SIGKILL))
}

/// The same where a thread that is none of this program's ended it; `during` is what the program did meanwhile.
fn foreign(end: &End, plugin: &str, during: &str) -> String {
    let who = match plugin {
        // Of a library, or of a plugin's library.
        "" => "another thread than the one that cooks".to_owned(),
        plugin => format!("a thread that {plugin} began"),
    };
    match &end.how {
        How::Signal(signal) => format!("{who} crashed ({}){during}", signal_name(*signal)),
        How::Exited(code) => format!("{who} ended the program with exit code {code}{during}"),
        _ => format!("{who} ended the program{during}"),
    }
}

/// Records a plugin that ended the program when it was opened, although the scan before had found no fault. False if
/// the record cannot be saved for the next command.
fn is_left_alone(end: &End) -> bool {
    let hung = matches!(end.how, How::Hung(_));
    let harmed = match end.how {
        How::Exited(_) | How::Orphaned | How::FilesClosed => true,
        How::Signal(signal) => signal != libc::SIGKILL,
        _ => hung,
    };
    harmed && end.seen.inside && end.seen.doing == OPENING && leave_alone(&end.seen.subject, hung)
}

fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGSEGV => "segmentation fault".into(),
        libc::SIGBUS => "bus error".into(),
        libc::SIGFPE => "arithmetic error".into(),
        libc::SIGILL => "illegal instruction".into(),
        libc::SIGABRT => "abort".into(),
        other => format!("signal {other}"),
    }
}

/// What to do about it.
fn next(end: &End, command: &Command) -> String {
    if is_left_alone(end) {
        return "commands go on without it for an hour from now; take it away, or have it mended".into();
    }
    let limited = matches!(end.how, How::Starved(_)) && limits::address_space().is_some();
    let short = matches!(end.how, How::Starved(_) | How::Signal(libc::SIGKILL));
    let Command::Cook(args) = command else {
        return match &end.how {
            How::OutOfTime(_) => "raise that limit",
            How::BrokenOff(_) => "begin it again",
            _ if limited => "raise that limit",
            _ if short => "free some memory",
            How::Orphaned if !end.seen.inside => "begin it again",
            _ => "take the plugin away, or have it mended",
        }
        .into();
    };
    let saved = latest_checkpoint(&out_folder(args).join("checkpoints")).is_some();
    let mend = match &end.how {
        How::BrokenOff(_) => "",
        How::OutOfTime(_) => "raise the limit, then ",
        _ if end.seen.foreign.as_deref() == Some("") => "",
        _ if end.seen.foreign.as_ref().is_some_and(|p| *p != end.seen.plugin) => {
            "mend that plugin or do without it, then "
        }
        _ if limited || short => return roomier(limited, saved),
        // A checkpoint belongs to the plugins that it was made with.
        _ if saved => {
            return format!(
                "what was cooked before is saved: bypass the node, then go on with: {}; with a mended plugin cook from the start",
                resume_command()
            );
        }
        _ => "mend or bypass the node, then ",
    };
    if saved {
        format!("what was cooked before is saved, {mend}go on with: {}", resume_command())
    } else {
        format!("nothing is saved yet, {mend}cook again")
    }
}

/// What to do where the memory was too small.
fn roomier(limited: bool, saved: bool) -> String {
    let more = if limited { "raise that limit" } else { "free memory" };
    if saved {
        // A checkpoint belongs to the voxels that it was made with.
        format!(
            "what was cooked before is saved, {more}, then go on with: {}; with larger voxels or a lower \
             quality cook from the start",
            resume_command()
        )
    } else {
        format!("nothing is saved yet, {more} or choose larger voxels or a lower quality, then cook again")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::board::Seen;
    use std::time::Duration;

    fn end(how: How, inside: bool) -> End {
        let seen = Seen {
            subject: "node `bad`".into(),
            doing: "in predict of `water`, frame 3".into(),
            plugin: "plugin `faults`, /p.so".into(),
            inside,
            ..Seen::default()
        };
        End { how, seen, peak: 3e9 }
    }

    #[test]
    fn an_end_is_one_sentence_with_node_stage_frame_and_plugin() {
        for (how, expected) in [
            (
                How::Exited(0),
                "node `bad` ended the program in predict of `water`, frame 3, with exit code 0 (plugin `faults`, /p.so)",
            ),
            (
                How::Signal(libc::SIGSEGV),
                "node `bad` crashed in predict of `water`, frame 3 (segmentation fault; plugin `faults`, /p.so)",
            ),
            (
                How::Signal(libc::SIGKILL),
                "the system ended the program while node `bad` was in predict of `water`, frame 3 (plugin `faults`, \
                 /p.so): most likely the memory ran out, it held 3.0 GB",
            ),
            (
                How::Starved(80_000_000_000),
                "node `bad` needed 80.0 GB more memory in predict of `water`, frame 3 (plugin `faults`, /p.so) and \
                 could not have it, the program held 3.0 GB",
            ),
            (
                How::Orphaned,
                "the process that stands above the program was killed while node `bad` was in predict of `water`, \
                 frame 3 (plugin `faults`, /p.so): most likely its plugin did that",
            ),
            (
                How::FilesClosed,
                "node `bad` closed files of the program in predict of `water`, frame 3 (plugin `faults`, /p.so)",
            ),
            (
                How::Hung(30),
                "node `bad` did not come to an end in predict of `water`, frame 3 (plugin `faults`, /p.so); it had 30 s",
            ),
            (
                How::BrokenOff(Duration::from_millis(340)),
                "broken off 0.3 s after it was told to stop, while node `bad` was in predict of `water`, frame 3 (plugin \
                 `faults`, /p.so)",
            ),
            (
                How::OutOfTime(60),
                "the system ended the program while node `bad` was in predict of `water`, frame 3 (plugin `faults`, \
                 /p.so): it had 60 s of processor time, which is its limit (`ulimit -t`)",
            ),
        ] {
            assert_eq!(what(&end(how, true)), expected);
        }
        assert_eq!(
            what(&end(How::Exited(3), false)),
            "the program ended with exit code 3 before its work was done, after node `bad` in predict of `water`, \
             frame 3 (plugin `faults`, /p.so)"
        );
        let mut beside = end(How::Signal(libc::SIGSEGV), true);
        beside.seen.foreign = Some("plugin `ghost`, /g.so".into());
        assert_eq!(
            what(&beside),
            "a thread that plugin `ghost`, /g.so began crashed (segmentation fault) while node `bad` was in predict of \
             `water`, frame 3 (plugin `faults`, /p.so)"
        );
        beside.seen.foreign = Some(beside.seen.plugin.clone());
        assert_eq!(
            what(&beside),
            "node `bad` crashed in predict of `water`, frame 3 (segmentation fault, on another thread; plugin `faults`, \
             /p.so)"
        );
        let early = End { how: How::BrokenOff(Duration::from_secs(7)), seen: Seen::default(), peak: 0.0 };
        assert_eq!(what(&early), "broken off 7.0 s after it was told to stop");
        assert_eq!(being(" while it was opened"), " being opened");
        let nothing = End { how: How::Signal(libc::SIGSEGV), seen: Seen::default(), peak: 0.0 };
        assert_eq!(what(&nothing), "the program crashed (segmentation fault)");
    }
}
