//! Locks a cook's folder, so that only one process cooks into it. The lock ends with the process, however that ends.

use super::cook_options::CookError;
use crate::process::KeptOpen;
use serde_json::{Value as Json, json};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The locked file within a cook's folder; it says who cooks.
const NAME: &str = "cook.lock";
/// How often, and at what interval, a lock file is read again whose holder has not written its name yet.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// How long a killed process may take to free its memory; it holds the lock until then.
const ENDING: Duration = Duration::from_secs(2);

/// A folder that only this process writes to, while this value lives.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Open as long as the lock is held; the system releases the lock when the process ends. `None` on a file system
    /// without locks.
    file: Option<File>,
    /// Plugins may not close it.
    held: Option<KeptOpen>,
    /// The folder itself, locked as well (what guards it is dropped before it is closed): that lock holds when someone takes the file away. `None` on a file system where
    /// folders have no locks.
    folder: Option<(KeptOpen, File)>,
    /// The folder, if it was made for the lock.
    made: Option<PathBuf>,
}

impl Lock {
    /// Locks a folder, and makes it if it does not exist; the error names the holder of the lock.
    pub(super) fn take(folder: &Path) -> Result<Self, CookError> {
        let cannot = |e: std::io::Error| {
            let shown = folder.display();
            CookError::Failed(format!("cannot make the folder {shown}: {e}; choose another with --out"))
        };
        let path = folder.join(NAME);
        let asked = Instant::now();
        loop {
            // On every try: the last holder may have removed the folder.
            let made = (!folder.exists()).then(|| folder.to_path_buf());
            std::fs::create_dir_all(folder).map_err(cannot)?;
            // What a link leads to is somebody's file, and a pipe is none.
            if std::fs::symlink_metadata(&path).is_ok_and(|it| !it.is_file()) {
                let sentence = format!("{} is a link or no file at all: remove it", path.display());
                return Err(CookError::Failed(sentence));
            }
            let mut open = OpenOptions::new();
            let open = open.read(true).write(true).create(true).truncate(false);
            let mut file = open.open(&path).map_err(|e| {
                let e = crate::files::explained(e, &path);
                CookError::Failed(format!("cannot write {}: {e}", path.display()))
            })?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if asked.elapsed() < ENDING => {
                    std::thread::sleep(BETWEEN_LOOKS);
                    continue;
                }
                Err(TryLockError::WouldBlock) => return Err(taken(folder, &path)),
                // On a file system without locks there is no protection.
                Err(TryLockError::Error(_)) => {
                    return Ok(Self { path, file: None, held: None, folder: None, made });
                }
                Ok(()) => {}
            }
            // The last holder removes the file at its end; a lock on a removed file protects nothing.
            if is_at(&file, &path) {
                let folder = match lock_folder(folder) {
                    Ok(lock) => lock,
                    Err(()) if asked.elapsed() < ENDING => {
                        std::thread::sleep(BETWEEN_LOOKS);
                        continue;
                    }
                    Err(()) => return Err(taken(folder, &path)),
                };
                // The name is only for messages; the lock holds without it.
                let _ = file.set_len(0).and_then(|()| file.write_all(own().to_string().as_bytes()));
                let held = Some(KeptOpen::of(&file));
                return Ok(Self { path, file: Some(file), held, folder, made });
            }
        }
    }
}

impl Lock {
    /// Checks that the lock still holds others off: the file may have been taken away, or the folder.
    pub(super) fn check(&self) -> Result<(), CookError> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let holds = match (&self.folder, &self.file) {
            (Some((_, locked)), _) => is_at(locked, folder),
            (None, Some(file)) => is_at(file, &self.path),
            (None, None) => true,
        };
        let lost = || {
            CookError::Failed(format!(
                "{} was moved or removed while this cook wrote into its folder, where another may write now: put it back \
                 and go on with --resume, or cook into another folder with --out",
                if self.folder.is_some() { folder } else { &self.path }.display()
            ))
        };
        if holds { Ok(()) } else { Err(lost()) }
    }

    /// The message for a folder whose file system has no locks.
    pub(super) fn warning(&self) -> Option<String> {
        let shown = self.path.parent().unwrap_or(&self.path).display();
        self.file.is_none().then(|| {
            format!("the file system of {shown} has no locks: see to it that no other cook writes there")
        })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.file.is_none() {
            // The owner of the file is unknown.
            return;
        }
        self.held = None;
        // Of the one that was locked here no other process can hold it. If it cannot be removed, it is locked again next
        // time.
        if self.file.as_ref().is_some_and(|file| is_at(file, &self.path)) {
            let _ = std::fs::remove_file(&self.path);
        }
        if let Some(folder) = &self.made {
            // Only if nothing was written.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Locks a folder itself; none where that cannot be done, an error where another process has done it.
#[cfg(unix)]
fn lock_folder(folder: &Path) -> Result<Option<(KeptOpen, File)>, ()> {
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => {
            let held = KeptOpen::of(&file);
            Ok(Some((held, file)))
        }
        Err(TryLockError::WouldBlock) => Err(()),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

#[cfg(not(unix))]
fn lock_folder(_folder: &Path) -> Result<Option<(KeptOpen, File)>, ()> {
    Ok(None)
}

/// True when the open file is the one that stands at the path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |m: std::io::Result<std::fs::Metadata>| m.ok().map(|m| (m.dev(), m.ino()));
    id(file.metadata()).is_some_and(|own| id(std::fs::metadata(path)) == Some(own))
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// A description of this process for the lock file.
fn own() -> Json {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = host.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    json!({ "host": host.trim(), "pid": std::process::id(), "since": moment(now) })
}

/// Who cooks into a folder now, as the lock there says; `None` where nobody does.
pub(crate) fn holder(folder: &Path) -> Option<String> {
    let path = folder.join(NAME);
    // Whoever wants the lock for a cook tries for longer than this one looks.
    let file = crate::files::open_file(&path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(who(&path).unwrap_or_else(|| NOBODY.into())),
        _ => None,
    }
}

/// A holder without a name.
const NOBODY: &str = "a process that does not say who it is";

/// Who wrote a lock file.
fn who(lock: &Path) -> Option<String> {
    let said: Json = serde_json::from_slice(&crate::files::read_file(lock, 1 << 12).ok()?).ok()?;
    let text = |key: &str| {
        said[key].as_str().map(|t| t.chars().filter(|c| !c.is_control()).take(80).collect::<String>())
    };
    Some(format!("process {} on {}, since {}", said["pid"].as_u64()?, text("host")?, text("since")?))
}

/// The sentence for a folder that someone else writes into.
fn taken(folder: &Path, lock: &Path) -> CookError {
    let who = || who(lock);
    let mut found = who();
    for _ in 0..LOOKS {
        if found.is_some() {
            break;
        }
        std::thread::sleep(BETWEEN_LOOKS);
        found = who();
    }
    let who = found.unwrap_or_else(|| NOBODY.into());
    let folder = folder.display();
    CookError::Failed(format!(
        "{folder} is being cooked into already, by {who}; wait for it, stop it, or choose another folder with --out"
    ))
}

/// Seconds since 1970 as `2026-11-22 23:37:05 UTC`.
fn moment(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from March, so that the leap day is the last day: 146 097 days are 400 years.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + year + month / 10, if month < 10 { month + 3 } else { month - 9 });
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        assert_eq!(moment(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(moment(951_782_399), "2000-02-28 23:59:59 UTC");
        assert_eq!(moment(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(moment(1_795_390_625), "2026-11-22 23:37:05 UTC");
    }

    #[test]
    fn a_folder_is_locked_once_and_free_again_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("out");
        let lock = Lock::take(&folder).unwrap();
        let refused = Lock::take(&folder).unwrap_err().to_string();
        let pid = format!("process {} on ", std::process::id());
        assert!(refused.contains("being cooked into already") && refused.contains(&pid), "{refused}");
        drop(lock);
        assert!(!folder.exists(), "an empty folder was left");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(NAME), b"left by one that was killed").unwrap();
        drop(Lock::take(&folder).unwrap());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        assert!(folder.exists(), "it was there before");
    }

    #[test]
    fn a_lock_that_is_taken_away_holds_and_a_folder_that_is_moved_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, moved) = (dir.path().join("out"), dir.path().join("moved"));
        let mut lock = Lock::take(&folder).unwrap();
        std::fs::remove_file(folder.join(NAME)).unwrap();
        lock.check().unwrap();
        let refused = Lock::take(&folder).unwrap_err().to_string();
        assert!(refused.contains("is being cooked into already"), "{refused}");
        std::fs::rename(&folder, &moved).unwrap();
        assert!(lock.check().unwrap_err().to_string().contains("out was moved or removed"));
        // Another cook's lock at the old place stays when this one ends.
        std::fs::create_dir(&folder).unwrap();
        let other = Lock::take(&folder).unwrap();
        assert!(lock.check().is_err());
        // Without locks on folders the file tells.
        lock.folder = None;
        let told = lock.check().unwrap_err().to_string();
        assert!(told.contains("cook.lock was moved or removed"), "{told}");
        drop(lock);
        assert!(folder.join(NAME).exists());
        other.check().unwrap();
    }

    #[test]
    fn what_a_link_leads_to_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (precious, folder) = (dir.path().join("precious.txt"), dir.path().join("out"));
        std::fs::write(&precious, b"mine").unwrap();
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&precious, folder.join(NAME)).unwrap();
        let refused = Lock::take(&folder).unwrap_err().to_string();
        assert!(refused.contains("cook.lock is a link"), "{refused}");
        assert_eq!(std::fs::read(&precious).unwrap(), b"mine");
    }

    #[test]
    fn of_many_that_ask_at_once_one_holds_the_lock_at_a_time() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let dir = tempfile::tempdir().unwrap();
        let holders = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        if let Ok(lock) = Lock::take(dir.path()) {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                            holders.fetch_sub(1, Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
    }
}
