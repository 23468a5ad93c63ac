//! Constants that are tuned, not derived. `docs/constants.md` shows what each does at half of its value and at twice.

/// A tuned constant. In tests of this crate one at a time can be scaled; everywhere else it is its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuned<T> {
    value: T,
    #[cfg(test)]
    number: u64,
}

impl<T: Copy> Tuned<T> {
    /// A constant and its name, `file::NAME`.
    pub(crate) const fn new(_name: &'static str, value: T) -> Self {
        Self {
            value,
            #[cfg(test)]
            number: scaled::number(_name),
        }
    }

    /// Its value.
    #[cfg(not(test))]
    #[inline(always)]
    pub(crate) const fn get(self) -> T {
        self.value
    }

    /// Its value, scaled where a test asks for that.
    #[cfg(test)]
    pub(crate) fn get(self) -> T
    where
        T: scaled::Scale,
    {
        scaled::of(self.number, self.value)
    }
}

/// The constant that a test scales.
#[cfg(test)]
pub(crate) mod scaled {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    static NUMBER: AtomicU64 = AtomicU64::new(0);
    static FACTOR: AtomicU64 = AtomicU64::new(0);

    /// A name as a number (FNV-1a).
    pub(crate) const fn number(name: &str) -> u64 {
        let (mut hash, mut n) = (0xcbf2_9ce4_8422_2325, 0);
        while n < name.len() {
            hash = (hash ^ name.as_bytes()[n] as u64).wrapping_mul(0x0100_0000_01b3);
            n += 1;
        }
        hash
    }

    /// A value that can be scaled.
    pub(crate) trait Scale: Copy {
        fn scaled(self, factor: f64) -> Self;
    }

    impl Scale for f64 {
        fn scaled(self, factor: f64) -> Self {
            self * factor
        }
    }

    impl Scale for f32 {
        fn scaled(self, factor: f64) -> Self {
            (f64::from(self) * factor) as f32
        }
    }

    impl Scale for usize {
        fn scaled(self, factor: f64) -> Self {
            (self as f64 * factor).round() as usize
        }
    }

    impl Scale for i32 {
        fn scaled(self, factor: f64) -> Self {
            (f64::from(self) * factor).round() as i32
        }
    }

    /// Scales one constant from here on, and all others no more.
    pub(crate) fn scale(name: &str, factor: f64) {
        FACTOR.store(factor.to_bits(), SeqCst);
        NUMBER.store(number(name), SeqCst);
    }

    /// The value of a constant now.
    pub(super) fn of<T: Scale>(number: u64, value: T) -> T {
        if NUMBER.load(SeqCst) == number { value.scaled(f64::from_bits(FACTOR.load(SeqCst))) } else { value }
    }
}
