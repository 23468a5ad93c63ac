//! Pictures in memory and as PNG files.

use super::{OutputError, go_on, save};
use std::io::{BufReader, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most bytes a picture that is read may take.
const LARGEST: usize = 1 << 30;

/// An sRGB picture, 8 bits a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// `[height][width][3]`, top row first.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// A picture of one colour.
    pub fn plain(width: usize, height: usize, colour: [u8; 3]) -> Self {
        Self { width, height, rgb: colour.repeat(width * height) }
    }

    /// Reads an 8-bit RGB PNG, such as [`Picture::write`] makes; the error is one sentence.
    pub fn read(path: &Path) -> Result<Self, OutputError> {
        let because = |e: &dyn std::fmt::Display| {
            OutputError::new(format!("cannot read the picture {}: {e}", path.display()))
        };
        let file = std::fs::File::open(path).map_err(|e| because(&e))?;
        let limits = png::Limits { bytes: LARGEST };
        let decoder = png::Decoder::new_with_limits(BufReader::new(file), limits);
        let mut reader = decoder.read_info().map_err(|e| because(&e))?;
        let size = reader.output_buffer_size().filter(|&s| s <= LARGEST);
        let kind = reader.output_color_type();
        let (Some(size), (png::ColorType::Rgb, png::BitDepth::Eight)) = (size, kind) else {
            return Err(because(&"it is not an 8-bit RGB picture of a reasonable size"));
        };
        let mut rgb = vec![0; size];
        let info = reader.next_frame(&mut rgb).map_err(|e| because(&e))?;
        Ok(Self { width: info.width as usize, height: info.height as usize, rgb })
    }

    /// Writes a PNG (temporary name, then rename), unless told to halt.
    pub fn write(&self, path: &Path, halt: &AtomicBool) -> Result<(), OutputError> {
        let bytes = self.to_png(halt);
        go_on(halt)?;
        let bytes = bytes
            .map_err(|e| OutputError::new(format!("cannot write the picture {}: {e}", path.display())))?;
        save(path, &bytes)
    }

    fn to_png(&self, halt: &AtomicBool) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::with_capacity(self.rgb.len() / 4);
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        let mut rows = writer.stream_writer()?;
        for row in self.rgb.chunks((self.width * 3).max(1)).take_while(|_| !halt.load(Ordering::Relaxed)) {
            rows.write_all(row)?;
        }
        rows.finish()?;
        writer.finish()?;
        Ok(bytes)
    }

    /// The picture made smaller: every new pixel is the mean of the old ones it covers.
    pub fn shrunk(&self, width: usize, height: usize) -> Self {
        let (width, height) = (width.clamp(1, self.width.max(1)), height.clamp(1, self.height.max(1)));
        let (across, down) = (Coverage::new(self.width, width), Coverage::new(self.height, height));
        let mut narrow = vec![0f32; width * self.height * 3];
        for (to, from) in narrow.chunks_exact_mut(width * 3).zip(self.rgb.chunks_exact(self.width * 3)) {
            for x in 0..width {
                for (i, share) in across.of(x) {
                    (0..3).for_each(|c| to[x * 3 + c] += share * f32::from(from[i * 3 + c]));
                }
            }
        }
        let mut rgb = Vec::with_capacity(width * height * 3);
        for y in 0..height {
            for i in 0..width * 3 {
                let mean: f32 = down.of(y).map(|(j, share)| share * narrow[j * width * 3 + i]).sum();
                rgb.push((mean + 0.5) as u8);
            }
        }
        Self { width, height, rgb }
    }

    /// Puts another picture on top, its upper left corner at (x, y); what reaches beyond the edge is cut off.
    pub fn paste(&mut self, other: &Picture, x: usize, y: usize) {
        let columns = other.width.min(self.width.saturating_sub(x));
        for row in 0..other.height.min(self.height.saturating_sub(y)) {
            let (to, from) = (((y + row) * self.width + x) * 3, row * other.width * 3);
            self.rgb[to..to + columns * 3].copy_from_slice(&other.rgb[from..from + columns * 3]);
        }
    }

    /// Colours one pixel, if it is there.
    pub fn dot(&mut self, x: usize, y: usize, colour: [u8; 3]) {
        if x < self.width && y < self.height {
            self.rgb[(y * self.width + x) * 3..][..3].copy_from_slice(&colour);
        }
    }
}

/// Which old pixels each new one covers along one axis, and their shares.
struct Coverage {
    ratio: f64,
    last: usize,
}

impl Coverage {
    fn new(old: usize, new: usize) -> Self {
        Self { ratio: old as f64 / new as f64, last: old.saturating_sub(1) }
    }

    fn of(&self, pixel: usize) -> impl Iterator<Item = (usize, f32)> {
        let (a, b) = (pixel as f64 * self.ratio, (pixel + 1) as f64 * self.ratio);
        let (first, end) = (a as usize, (b.ceil() as usize).min(self.last + 1));
        let ratio = self.ratio;
        (first..end)
            .map(move |i| (i, (((i + 1) as f64).min(b) - (i as f64).max(a)).max(0.0)))
            .map(move |(i, covered)| (i, (covered / ratio) as f32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(width: usize, height: usize) -> Picture {
        let rgb = (0..width * height).flat_map(|i| [(i % width) as u8, (i / width) as u8, 7]).collect();
        Picture { width, height, rgb }
    }

    #[test]
    fn a_picture_survives_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        ramp(31, 17).write(&path, &AtomicBool::new(false)).unwrap();
        assert_eq!(Picture::read(&path).unwrap(), ramp(31, 17));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn what_is_no_picture_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        ramp(64, 64).write(&path, &AtomicBool::new(false)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for bytes in [&b""[..], b"no picture", &whole[..20], &whole[..whole.len() / 2]] {
            std::fs::write(&path, bytes).unwrap();
            let error = Picture::read(&path).unwrap_err().to_string();
            assert!(error.starts_with("cannot read the picture ") && error.contains("a.png"), "{error}");
        }
        assert!(Picture::read(&folder.path().join("none.png")).is_err());
    }

    #[test]
    fn shrinking_keeps_the_mean_and_plain_colours() {
        let plain = Picture::plain(50, 30, [10, 200, 77]);
        assert_eq!(plain.shrunk(17, 11), Picture::plain(17, 11, [10, 200, 77]));
        let mean = |p: &Picture| {
            p.rgb.iter().step_by(3).map(|&v| f64::from(v)).sum::<f64>() / (p.width * p.height) as f64
        };
        let big = ramp(200, 40);
        assert!((mean(&big) - mean(&big.shrunk(33, 9))).abs() < 0.5);
        assert_eq!(big.shrunk(500, 500), big, "never made larger");
    }

    #[test]
    fn pasting_beyond_the_edge_is_cut_off() {
        let mut p = Picture::plain(4, 4, [0; 3]);
        p.paste(&Picture::plain(3, 3, [9; 3]), 2, 3);
        assert_eq!(p.rgb.iter().filter(|&&v| v == 9).count(), 2 * 3);
        p.paste(&Picture::plain(3, 3, [9; 3]), 7, 9);
        p.dot(4, 0, [1; 3]);
    }
}
