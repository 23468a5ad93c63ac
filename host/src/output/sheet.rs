//! Contact sheets: several pictures in one, with captions.

use super::caption;
use super::picture::Picture;
use super::{OutputError, file_of, go_on};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Widest sheet, pixels.
const WIDEST: usize = 1920;
/// Room between the pictures and around them, pixels.
const GAP: usize = 8;
/// Dots of a letter are this many pixels wide.
const LETTER: usize = 2;
/// Letters stand this far below their picture, pixels.
const CAPTION_GAP: usize = 4;
/// A sheet is about this many times as wide as high.
const SHAPE: f64 = 1.6;
const PAPER: [u8; 3] = [28, 30, 33];
const INK: [u8; 3] = [205, 210, 215];

/// A picture and what stands below it.
pub struct Cell {
    /// The picture.
    pub picture: Picture,
    /// Its caption; what does not fit is cut off.
    pub caption: String,
}

/// Lays out pictures row by row, all made smaller by the same factor until the sheet is not too wide.
pub fn compose(cells: &[Cell], columns: usize, halt: &AtomicBool) -> Result<Picture, OutputError> {
    let columns = columns.max(1);
    let largest = |f: fn(&Picture) -> usize| cells.iter().map(|c| f(&c.picture)).max().unwrap_or(1).max(1);
    let (width, height) = (largest(|p| p.width), largest(|p| p.height));
    let room = (WIDEST.saturating_sub((columns + 1) * GAP) / columns).max(16);
    let factor = (room as f64 / width as f64).min(1.0);
    let scaled = |n: usize| ((n as f64 * factor).round() as usize).max(1);
    let below = CAPTION_GAP + caption::LINE * LETTER;
    let (across, down) = (scaled(width) + GAP, scaled(height) + below + GAP);
    let rows = cells.len().div_ceil(columns);
    let mut sheet = Picture::plain(columns * across + GAP, rows * down + GAP, PAPER);
    for (i, cell) in cells.iter().enumerate() {
        go_on(halt)?;
        let (x, y) = (GAP + i % columns * across, GAP + i / columns * down);
        let small = cell.picture.shrunk(scaled(cell.picture.width), scaled(cell.picture.height));
        sheet.paste(&small, x, y);
        let letters = scaled(width) / caption::width(" ", LETTER);
        let text: String = cell.caption.chars().take(letters).collect();
        caption::write(&mut sheet, &text, x, y + scaled(height) + CAPTION_GAP, LETTER, INK);
    }
    Ok(sheet)
}

/// Columns of a sheet of so many pictures that makes it about [`SHAPE`].
fn columns_for(count: usize, picture: &Picture) -> usize {
    let aspect = picture.width as f64 / picture.height.max(1) as f64;
    ((count as f64 * SHAPE / aspect).sqrt().round() as usize).clamp(1, count.max(1))
}

/// At most `count` of the frames, the first and the last among them, evenly spread.
fn spread(frames: &[i32], count: usize) -> Vec<i32> {
    match (frames.len(), count) {
        (_, 0) | (0, _) => Vec::new(),
        (n, count) if count >= n => frames.to_vec(),
        (n, 1) => vec![frames[n - 1]],
        (n, count) => (0..count).map(|i| frames[(i * (n - 1) + (count - 1) / 2) / (count - 1)]).collect(),
    }
}

/// The frames of a shot whose picture is in the folder.
pub(super) fn written(folder: &Path, node: &str, frames: (i32, i32)) -> Vec<i32> {
    (frames.0..=frames.1).filter(|&n| file_of(folder, node, n, "png").is_file()).collect()
}

/// Name of a node's sheet.
pub fn name(node: &str) -> String {
    format!("{node}_sheet.png")
}

/// Writes `<node>_sheet.png`: pictures of the shot evenly spread over its frames, read back from the folder, so
/// that a resumed cook ends with the same sheet. Without pictures there is none.
pub fn contact_sheet(
    folder: &Path,
    node: &str,
    frames: (i32, i32),
    count: usize,
    halt: &AtomicBool,
) -> Result<Option<PathBuf>, OutputError> {
    let mut cells = Vec::new();
    for n in spread(&written(folder, node, frames), count) {
        go_on(halt)?;
        let picture = Picture::read(&file_of(folder, node, n, "png"))?;
        cells.push(Cell { picture, caption: format!("frame {n}") });
    }
    let Some(first) = cells.first() else { return Ok(None) };
    let path = folder.join(name(node));
    compose(&cells, columns_for(cells.len(), &first.picture), halt)?.write(&path, halt)?;
    Ok(Some(path))
}

/// One shot on a sheet that compares several.
pub struct Row<'a> {
    /// What stands above its pictures.
    pub title: &'a str,
    /// Folder of its preview node.
    pub folder: &'a Path,
}

/// Writes a sheet with one row a shot: the same frames below one another. `node` is the name of the preview node
/// in all of them. Without a frame that all of them have nothing is written, and the answer is false.
pub fn side_by_side(
    rows: &[Row],
    node: &str,
    frames: (i32, i32),
    count: usize,
    path: &Path,
) -> Result<bool, OutputError> {
    let all = (frames.0..=frames.1)
        .filter(|&n| rows.iter().all(|r| file_of(r.folder, node, n, "png").is_file()))
        .collect::<Vec<i32>>();
    let chosen = spread(&all, count);
    if rows.is_empty() || chosen.is_empty() {
        return Ok(false);
    }
    let wanted = AtomicBool::new(false);
    let strip = |row: &Row| -> Result<Picture, OutputError> {
        let cell = |&n: &i32| -> Result<Cell, OutputError> {
            let picture = Picture::read(&file_of(row.folder, node, n, "png"))?;
            Ok(Cell { picture, caption: format!("frame {n}") })
        };
        let cells: Vec<Cell> = chosen.iter().map(cell).collect::<Result<_, _>>()?;
        compose(&cells, chosen.len(), &wanted)
    };
    let strips: Vec<Picture> = rows.iter().map(strip).collect::<Result<_, _>>()?;
    let titles: Vec<&str> = rows.iter().map(|row| row.title).collect();
    stack(&titles, &strips).write(path, &wanted)?;
    Ok(true)
}

/// Pictures below one another, each with a title above it.
fn stack(titles: &[&str], strips: &[Picture]) -> Picture {
    let line = GAP + caption::LINE * LETTER;
    let width = strips.iter().map(|s| s.width).max().unwrap_or(1);
    let mut all = Picture::plain(width, strips.iter().map(|s| line + s.height).sum(), PAPER);
    let mut y = 0;
    for (title, strip) in titles.iter().zip(strips) {
        let letters = width.saturating_sub(2 * GAP) / caption::width(" ", LETTER);
        let text: String = title.chars().take(letters).collect();
        caption::write(&mut all, &text, GAP, y + GAP, LETTER, INK);
        all.paste(strip, 0, y + line);
        y += line + strip.height;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_frames_span_the_shot() {
        let frames: Vec<i32> = (1..=96).collect();
        let chosen = spread(&frames, 12);
        assert_eq!((chosen.len(), chosen[0], chosen[11]), (12, 1, 96));
        let steps: Vec<i32> = chosen.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(steps.iter().all(|s| (8..=9).contains(s)), "{steps:?}");
        assert_eq!(spread(&frames[..3], 12), [1, 2, 3]);
        assert_eq!(spread(&frames, 1), [96]);
        assert!(spread(&frames, 0).is_empty() && spread(&[], 5).is_empty());
    }

    #[test]
    fn sheets_show_every_picture_in_its_place() {
        let shade = |i: u8| Picture::plain(60, 90, [i, 0, 0]);
        let cells: Vec<Cell> =
            (100..105).map(|i| Cell { picture: shade(i), caption: "a long caption indeed".into() }).collect();
        let wanted = AtomicBool::new(false);
        let sheet = compose(&cells, 3, &wanted).unwrap();
        assert_eq!((sheet.width, sheet.height), (3 * 68 + 8, 2 * (90 + 4 + 20 + 8) + 8));
        let pixel = |x: usize, y: usize| sheet.rgb[(y * sheet.width + x) * 3];
        for i in 0..5 {
            let (x, y) = (GAP + i % 3 * 68, GAP + i / 3 * 122);
            assert_eq!([pixel(x, y), pixel(x + 59, y + 89)], [100 + i as u8; 2]);
            assert_eq!(pixel(x + 60, y + 100), PAPER[0], "captions stay below their picture");
        }
    }

    #[test]
    fn sheets_stay_within_their_width() {
        let cells: Vec<Cell> = (0..8)
            .map(|_| Cell { picture: Picture::plain(640, 480, [9; 3]), caption: String::new() })
            .collect();
        let wanted = AtomicBool::new(false);
        assert!(compose(&cells, 8, &wanted).unwrap().width <= WIDEST);
        assert_eq!(compose(&[], 3, &wanted).unwrap().height, GAP);
    }

    #[test]
    fn shots_are_compared_at_the_frames_all_have() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        for (shot, frames) in [(&a, 1..=4), (&b, 2..=6)] {
            std::fs::create_dir(shot).unwrap();
            for n in frames {
                Picture::plain(40, 40, [n as u8; 3])
                    .write(&file_of(shot, "preview", n, "png"), &AtomicBool::new(false))
                    .unwrap();
            }
        }
        let path = folder.path().join("both.png");
        let rows = [Row { title: "a", folder: &a }, Row { title: "b", folder: &b }];
        assert!(side_by_side(&rows, "preview", (1, 9), 8, &path).unwrap());
        let sheet = Picture::read(&path).unwrap();
        let (title, strip) = (GAP + 20, 72 + 8);
        assert_eq!(
            (sheet.width, sheet.height),
            (3 * 48 + 8, 2 * (title + strip)),
            "frames 2, 3 and 4, twice"
        );
        let pixel = |x: usize, y: usize| sheet.rgb[(y * sheet.width + x) * 3];
        for row in [0, title + strip] {
            let found = [0, 1, 2].map(|i| pixel(GAP + i * 48 + 20, row + title + GAP + 20));
            assert_eq!(found, [2, 3, 4], "each picture in its place");
            let inked = (0..title).any(|y| (0..24).any(|x| pixel(x, row + y) == INK[0]));
            assert!(inked, "a title above the row at {row}");
        }
        assert!(!side_by_side(&rows, "preview", (5, 9), 8, &path).unwrap());
    }
}
