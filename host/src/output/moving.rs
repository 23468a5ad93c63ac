//! Moving pictures: the frames of a shot as one animated PNG, which browsers and most chats show.

use super::picture::Picture;
use super::sheet::written;
use super::{OutputError, file_of, go_on, save};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Widest moving picture, pixels.
const WIDEST: usize = 480;
/// Most pictures in one; of longer shots every second is shown, or every third …
const MOST: usize = 240;

/// Name of a node's moving picture.
pub fn name(node: &str) -> String {
    format!("{node}_moving.png")
}

/// Writes `<node>_moving.png`: the pictures of the shot at its own speed, read back from the folder, so that a resumed cook
/// ends with the same. Without two pictures there is none.
pub fn moving_picture(
    folder: &Path,
    node: &str,
    frames: (i32, i32),
    fps: f64,
    halt: &AtomicBool,
) -> Result<Option<PathBuf>, OutputError> {
    let all = written(folder, node, frames);
    let every = all.len().div_ceil(MOST).max(1);
    let shown: Vec<i32> = all.into_iter().step_by(every).collect();
    if shown.len() < 2 {
        return Ok(None);
    }
    let mut size = None;
    let mut pictures = Vec::with_capacity(shown.len());
    for n in shown {
        go_on(halt)?;
        let picture = Picture::read(&file_of(folder, node, n, "png"))?;
        let (width, height) = *size.get_or_insert_with(|| fitting(&picture));
        pictures.push(picture.shrunk(width, height).rgb);
    }
    let path = folder.join(name(node));
    let bytes = encoded(&pictures, size.unwrap_or((1, 1)), every as f64 / fps)
        .map_err(|e| OutputError::new(format!("cannot write the picture {}: {e}", path.display())))?;
    go_on(halt)?;
    save(&path, &bytes)?;
    Ok(Some(path))
}

/// Size of a picture, no wider than [`WIDEST`].
fn fitting(picture: &Picture) -> (usize, usize) {
    let width = picture.width.min(WIDEST);
    (width, (picture.height * width / picture.width.max(1)).max(1))
}

/// Pictures `[height][width][3]` of one size, each shown for so many seconds, again and again.
fn encoded(
    pictures: &[Vec<u8>],
    (width, height): (usize, usize),
    seconds: f64,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_animated(pictures.len() as u32, 0)?;
    let (parts, whole) = fraction(seconds);
    encoder.set_frame_delay(parts, whole)?;
    let mut writer = encoder.write_header()?;
    for picture in pictures {
        writer.write_image_data(picture)?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// Seconds as a fraction of 16-bit numbers, as exact as they allow.
fn fraction(seconds: f64) -> (u16, u16) {
    let most = f64::from(u16::MAX);
    let parts = (most * seconds.min(1.0)).floor().clamp(1.0, 1000.0);
    (parts as u16, (parts / seconds).round().clamp(1.0, most) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shot_moves_at_its_own_speed_and_shows_its_frames() {
        let folder = tempfile::tempdir().unwrap();
        let halt = AtomicBool::new(false);
        let make = |frames, fps| moving_picture(folder.path(), "look", frames, fps, &halt).unwrap();
        let colour = |n: i32| [n as u8 * 20, 100, 200];
        assert_eq!(make((-1, 9), 24.0), None);
        for n in -1..=9 {
            let picture = Picture::plain(960, 20, colour(n + 1));
            picture.write(&file_of(folder.path(), "look", n, "png"), &halt).unwrap();
        }
        let path = make((-1, 9), 23.976).unwrap();
        assert_eq!(path, folder.path().join("look_moving.png"));
        let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let control = reader.info().animation_control.unwrap();
        assert_eq!((control.num_frames, control.num_plays), (11, 0));
        for n in 0..11 {
            let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
            let shown = reader.next_frame(&mut rgb).unwrap();
            assert_eq!((shown.width, shown.height, rgb[..3].to_vec()), (480, 10, colour(n).to_vec()));
            let delay = reader.info().frame_control.unwrap();
            let seconds = f64::from(delay.delay_num) / f64::from(delay.delay_den);
            assert!((seconds * 23.976 - 1.0).abs() < 1e-4, "{seconds}");
        }
        assert_eq!(make((9, 9), 24.0), None, "one picture does not move");
    }

    #[test]
    fn any_speed_is_a_fraction() {
        for seconds in [1e-4, 1.0 / 240.0, 1.0 / 60.0, 1.0 / 24.0, 1.001 / 24.0, 0.5, 3.0, 100.0] {
            let (parts, whole) = fraction(seconds);
            let error = f64::from(parts) / f64::from(whole) / seconds - 1.0;
            assert!(error.abs() < 0.11, "{seconds}: {parts}/{whole}");
        }
    }
}
