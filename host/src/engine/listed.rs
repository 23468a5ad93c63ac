//! The files that a cook may write, as listed in `cook.json`. A later cook may remove these, and must not mix them with
//! its own frames.

use crate::output::{FRAME, file_name, frame_of};
use serde_json::{Value as Json, json};
use std::path::{Component, Path, PathBuf};

/// Most bytes of a `cook.json` that is read.
const LARGEST: u64 = 1 << 30;

/// A file, or one for each of these frames.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    /// `<node>/<name>` below the cook's folder, `$F4` for the frame.
    file: String,
    pub(super) frames: (i32, i32),
}

impl Listed {
    pub(super) fn new(file: &str, frames: (i32, i32)) -> Self {
        Self { file: file.into(), frames }
    }

    pub(super) fn to_json(&self) -> Json {
        match self.file.contains(FRAME) {
            true => json!({ "file": self.file, "frames": [self.frames.0, self.frames.1] }),
            false => json!({ "file": self.file }),
        }
    }

    /// `None` for a file outside a node's folder: `cook.json` may come from anybody.
    fn from_json(json: &Json) -> Option<Self> {
        let file = json["file"].as_str()?;
        let path = Path::new(file);
        let plain =
            path.components().all(|c| matches!(c, Component::Normal(_))) && path.components().count() == 2;
        let end = |i: usize| json["frames"][i].as_i64().and_then(|n| i32::try_from(n).ok());
        let frames = if file.contains(FRAME) { (end(0)?, end(1)?) } else { (0, 0) };
        plain.then(|| Self::new(file, frames))
    }

    /// What is left of it of these frames; a file that is of no frame stays.
    pub(super) fn within(mut self, (first, last): (i32, i32)) -> Option<Self> {
        if self.file.contains(FRAME) {
            self.frames = (self.frames.0.max(first), self.frames.1.min(last));
        }
        (self.frames.0 <= self.frames.1).then_some(self)
    }

    pub(super) fn split(&self) -> (&str, &str) {
        self.file.split_once('/').unwrap_or(("", &self.file))
    }

    /// True when it names that file of that node's folder; with `any_frame` also for frames it does not list.
    fn names(&self, node: &str, name: &str, any_frame: bool) -> bool {
        let (folder, pattern) = self.split();
        folder == node
            && match frame_of(pattern, name) {
                Some(n) => {
                    any_frame || (self.frames.0..=self.frames.1).contains(&n) && file_name(pattern, n) == name
                }
                None => !pattern.contains(FRAME) && pattern == name,
            }
    }
}

/// The list in the `cook.json` of a folder; the error says, after the file's name, why it cannot be read.
pub(super) fn read(out: &Path) -> Result<Vec<Listed>, String> {
    let bytes = match crate::files::read_file(&out.join("cook.json"), LARGEST) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err("is not there".into()),
        Err(e) => return Err(format!("cannot be read ({e})")),
    };
    let json: Json = serde_json::from_slice(&bytes).map_err(|e| format!("is damaged ({e})"))?;
    let written = json["written"].as_array().ok_or("is damaged (it lists no files)")?;
    let listed =
        written.iter().map(|l| Listed::from_json(l).ok_or("is damaged (it lists what no cook writes)"));
    Ok(listed.collect::<Result<_, _>>()?)
}

/// Folder and name of every file that a record lists, [`FRAME`] for the frame's number, and the frames. What no cook
/// writes is left out.
pub(crate) fn files(record: &Json) -> Vec<(String, String, (i32, i32))> {
    let listed = record["written"].as_array().into_iter().flatten().filter_map(Listed::from_json);
    listed
        .map(|l| {
            let (folder, name) = l.split();
            (folder.to_owned(), name.to_owned(), l.frames)
        })
        .collect()
}

/// Files of some frames that are missing although the file of an earlier frame is there; those of the first frames come
/// first. A file's first frame is not known, because its data or its node may have begun later.
pub(super) fn missing(out: &Path, listed: &[Listed], (first, last): (i32, i32)) -> Vec<PathBuf> {
    let of = |l: &Listed| {
        let (folder, pattern) = l.split();
        let folder = out.join(folder);
        let frames = l.frames.0.max(first)..=l.frames.1.min(last);
        let file = |n: i32| (n, folder.join(file_name(pattern, n)));
        let of_frames = frames.filter(|_| pattern.contains(FRAME)).map(file);
        let since_the_first = of_frames.skip_while(|(_, file)| !file.exists());
        since_the_first.filter(|(_, file)| !file.exists()).collect::<Vec<_>>()
    };
    let mut missing: Vec<(i32, PathBuf)> = listed.iter().flat_map(of).collect();
    missing.sort();
    missing.into_iter().map(|(_, file)| file).collect()
}

/// The lists of two cooks of one shot, merged.
pub(super) fn united(before: Vec<Listed>, now: &[Listed]) -> Vec<Listed> {
    let mut all = now.to_vec();
    for old in before {
        match all.iter_mut().find(|l| l.file == old.file) {
            Some(l) => l.frames = (l.frames.0.min(old.frames.0), l.frames.1.max(old.frames.1)),
            None => all.push(old),
        }
    }
    all
}

/// What lies in the folders and stands in a cook's way.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// Files of the earlier cook, as its `cook.json` lists them, that this one will not write.
    pub(super) listed: Vec<PathBuf>,
    /// Frames among this cook's own that no `cook.json` lists.
    pub(super) unlisted: Vec<PathBuf>,
    /// Those of the first that lie elsewhere, because a link in the cook's folder leads there.
    pub(super) elsewhere: Vec<PathBuf>,
    /// Files that no `cook.json` lists where this cook will write: somebody else's.
    pub(super) foreign: Vec<PathBuf>,
}

/// Looks through the folders that either list names.
pub(super) fn leftovers(out: &Path, before: &[Listed], now: &[Listed]) -> Leftovers {
    let mut folders: Vec<&str> = before.iter().chain(now).map(|l| l.split().0).collect();
    folders.sort_unstable();
    folders.dedup();
    let mut found = Leftovers::default();
    for folder in folders {
        let is_link = crate::files::is_link(&out.join(folder));
        let Ok(entries) = std::fs::read_dir(out.join(folder)) else { continue };
        let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
        paths.sort();
        for path in paths.into_iter().filter(|p| p.is_file()) {
            let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
            let any = |lists: &[Listed], any_frame| lists.iter().any(|l| l.names(folder, name, any_frame));
            if any(now, false) {
                if !any(before, false) {
                    found.foreign.push(path);
                }
                continue;
            }
            if any(before, false) {
                let list = if is_link { &mut found.elsewhere } else { &mut found.listed };
                list.push(path);
            } else if any(now, true) {
                found.unlisted.push(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_what_the_earlier_cook_listed_and_the_new_one_does_not_write() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, b"x").unwrap();
            path
        };
        let own = ["cache/cache.0002.vdb", "look/look_sheet.png", "cache/notes.txt", "cache/other.0009.vdb"];
        own.iter().for_each(|n| drop(file(n)));
        let left = [file("cache/cache.0003.vdb"), file("old/old_sheet.png"), file("old/old.-0003.png")];
        let unlisted = file("cache/cache.0009.vdb");
        let before = [
            Listed::new("cache/cache.$F4.vdb", (1, 4)),
            Listed::new("old/old_sheet.png", (0, 0)),
            Listed::new("old/old.$F4.png", (-5, 4)),
        ];
        let now = [Listed::new("cache/cache.$F4.vdb", (1, 2)), Listed::new("look/look_sheet.png", (0, 0))];
        let found = leftovers(dir.path(), &before, &now);
        assert_eq!(found.listed, [left[0].clone(), left[2].clone(), left[1].clone()]);
        assert_eq!(found.unlisted, [unlisted]);
        assert_eq!(found.foreign, [dir.path().join("look/look_sheet.png")]);
        assert!(leftovers(dir.path(), &[], &united(before.to_vec(), &now)).listed.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn what_a_link_leads_to_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let (out, other) = (dir.path().join("out"), dir.path().join("other"));
        [&out, &other].into_iter().for_each(|d| std::fs::create_dir(d).unwrap());
        std::fs::write(other.join("cache.0003.vdb"), b"mine").unwrap();
        std::os::unix::fs::symlink(&other, out.join("cache")).unwrap();
        let found = leftovers(&out, &[Listed::new("cache/cache.$F4.vdb", (1, 4))], &[]);
        assert_eq!(found.elsewhere, [out.join("cache/cache.0003.vdb")]);
        assert!(found.listed.is_empty() && found.unlisted.is_empty());
    }

    #[test]
    fn lists_go_through_json_and_never_leave_the_folder() {
        for l in [Listed::new("a/a.$F4.vdb", (-3, 12)), Listed::new("a/a_sheet.png", (0, 0))] {
            assert_eq!(Listed::from_json(&l.to_json()), Some(l));
        }
        for file in ["../a.vdb", "a/../../b", "/etc/passwd", "cook.json", "a/b/c.vdb", ""] {
            assert_eq!(Listed::from_json(&json!({ "file": file })), None, "{file}");
        }
        assert_eq!(Listed::from_json(&json!({ "file": "a/a.$F4.vdb" })), None);
    }
}
