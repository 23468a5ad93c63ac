//! Sets how the process keeps freed memory, and finds how much memory it may use.

use std::path::{Path, PathBuf};

/// Keeps freed memory in the process. A substep frees and allocates the same arrays again, hundreds of megabytes of
/// them; otherwise the system would take the pages back and return them zeroed each time (a sixth of a substep's time).
///
/// Call it before any thread starts. Elsewhere than on glibc it does nothing.
pub(crate) fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Bytes up to which an array is kept, and those that may be free at the end of the heap.
        const KEPT: i32 = 1 << 30;
        /// Threads that share a heap. Each heap keeps what was freed in it: with one per thread that adds up.
        const SHARE: usize = 8;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let heaps = i32::try_from(threads.div_ceil(SHARE)).unwrap_or(1);
        for (option, value) in
            [(libc::M_MMAP_THRESHOLD, KEPT), (libc::M_TRIM_THRESHOLD, KEPT), (libc::M_ARENA_MAX, heaps)]
        {
            // SAFETY: mallopt takes plain numbers and may be called at any time; a value it refuses changes nothing.
            unsafe { libc::mallopt(option, value) };
        }
    }
}

/// Memory that this process could still allocate, bytes: what the machine has free, within the limits of its control
/// group and its own. None if unknown.
pub(crate) fn free() -> Option<f64> {
    let limits = [available(), group_room(Path::new("/sys/fs/cgroup")), own_limit()];
    limits.into_iter().flatten().reduce(f64::min)
}

/// What the machine could hand out without swapping.
fn available() -> Option<f64> {
    field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// A field of `/proc/meminfo`, in bytes.
fn field(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find(|l| l.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib * 1024.0)
}

/// What the control groups that this process is in leave it (version 2, then 1).
fn group_room(root: &Path) -> Option<f64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = groups.lines().find_map(|l| l.strip_prefix("0::/")).unwrap_or_default();
    // In a container the group's own folder is the root; outside, every folder above it limits it too.
    let unified = root.join(own).ancestors().take_while(|f| f.starts_with(root)).map(PathBuf::from).collect();
    let all: [(Vec<PathBuf>, &str, &str); 2] = [
        (unified, "memory.max", "memory.current"),
        (vec![root.join("memory")], "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ];
    let rooms =
        all.iter().flat_map(|(folders, limit, used)| folders.iter().map(move |f| room(f, limit, used)));
    rooms.flatten().reduce(f64::min)
}

/// The memory that a control group leaves. File caches count as free.
fn room(group: &Path, limit: &str, used: &str) -> Option<f64> {
    let read = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    let limit: f64 = read(limit)?.trim().parse().ok()?;
    let used: f64 = read(used)?.trim().parse().ok()?;
    let stat = read("memory.stat").unwrap_or_default();
    let files = stat.lines().find_map(|l| l.strip_prefix("inactive_file "));
    let files: f64 = files.and_then(|n| n.trim().parse().ok()).unwrap_or(0.0);
    Some((limit - used + files).max(0.0))
}

/// What `ulimit` allows.
fn own_limit() -> Option<f64> {
    #[cfg(unix)]
    {
        let limit = |what| {
            let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
            // SAFETY: `limit` is filled in, or stays as it is.
            unsafe { libc::getrlimit(what, &raw mut limit) };
            (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as f64)
        };
        [limit(libc::RLIMIT_AS), limit(libc::RLIMIT_DATA)].into_iter().flatten().reduce(f64::min)
    }
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_group_leaves_what_it_does_not_use() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        let left = || room(dir.path(), "memory.max", "memory.current");
        assert_eq!(left(), None);
        file("memory.max", "max\n");
        file("memory.current", "300\n");
        assert_eq!(left(), None, "no limit");
        file("memory.max", "1000\n");
        assert_eq!(left(), Some(700.0));
        file("memory.stat", "anon 250\ninactive_file 50\n");
        assert_eq!(left(), Some(750.0));
        file("memory.max", "200\n");
        assert_eq!(left(), Some(0.0));
    }

    #[test]
    fn a_field_of_meminfo_is_in_bytes() {
        assert_eq!(field("MemTotal: 8 kB\nMemAvailable:   2 kB\n", "MemAvailable:"), Some(2048.0));
        assert_eq!(field("MemTotal: 8 kB\n", "MemAvailable:"), None);
    }
}
