//! `Range: bytes=…`, one range of it.

/// What a range asks of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Everything: no range, or one in a form that a server may pass over.
    All,
    /// From this byte on, so many.
    Part {
        /// First byte.
        from: u64,
        /// Number of bytes, at least one.
        length: u64,
    },
    /// A range beyond the end.
    Nothing,
}

/// Reads the header's value for a body of `length` bytes. Several ranges are answered with everything, which is allowed.
pub fn asked(header: Option<&str>, length: u64) -> Asked {
    let Some(range) = header.and_then(|h| h.trim().strip_prefix("bytes=")) else { return Asked::All };
    let Some((first, last)) = range.split_once('-').filter(|_| !range.contains(',')) else {
        return Asked::All;
    };
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok());
    let (Some(from), Some(to)) = (number(first.trim()), number(last.trim())) else { return Asked::All };
    let (from, end) = match (from, to) {
        (Some(from), Some(to)) if to < from => return Asked::All,
        (Some(from), Some(to)) => (from, to.saturating_add(1).min(length)),
        (Some(from), None) => (from, length),
        // The last so many bytes.
        (None, Some(last)) => (length.saturating_sub(last), length),
        (None, None) => return Asked::All,
    };
    if from >= end { Asked::Nothing } else { Asked::Part { from, length: end - from } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_as_the_standard_says() {
        let part = |from, length| Asked::Part { from, length };
        for (header, expected) in [
            ("bytes=0-0", part(0, 1)),
            ("bytes=0-", part(0, 10)),
            ("bytes=4-6", part(4, 3)),
            ("bytes=4-400", part(4, 6)),
            ("bytes=-3", part(7, 3)),
            ("bytes=-300", part(0, 10)),
            ("bytes=10-", Asked::Nothing),
            ("bytes=-0", Asked::Nothing),
            ("bytes=6-4", Asked::All),
            ("bytes=-", Asked::All),
            ("bytes=a-b", Asked::All),
            ("bytes=0-1,3-4", Asked::All),
            ("bytes=99999999999999999999-", Asked::All),
            ("lines=0-1", Asked::All),
        ] {
            assert_eq!(asked(Some(header), 10), expected, "{header}");
        }
        assert_eq!(asked(None, 10), Asked::All);
        assert_eq!(asked(Some("bytes=0-"), 0), Asked::Nothing);
    }
}
