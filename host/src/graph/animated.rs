//! Parameters over time: constants and keyframes.

use crate::node::{ParamKind, Value};

/// How the value moves between two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ease {
    /// Straight line.
    Linear,
    /// Stays at the earlier key.
    Hold,
    /// Starts and ends at rest: s = 3t² − 2t³.
    Ease,
    /// Starts at rest: s = t².
    EaseIn,
    /// Ends at rest: s = 2t − t².
    EaseOut,
}

impl Ease {
    /// Names in graph files.
    pub const NAMES: [(&'static str, Ease); 5] = [
        ("linear", Ease::Linear),
        ("hold", Ease::Hold),
        ("ease", Ease::Ease),
        ("ease_in", Ease::EaseIn),
        ("ease_out", Ease::EaseOut),
    ];

    fn blend(self, t: f64) -> f64 {
        match self {
            Ease::Linear => t,
            Ease::Hold => 0.0,
            Ease::Ease => t * t * (3.0 - 2.0 * t),
            Ease::EaseIn => t * t,
            Ease::EaseOut => t * (2.0 - t),
        }
    }
}

/// A parameter as a graph gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Animated {
    /// The same value at all times.
    Constant(Value),
    /// Keyframes: (frame, components), frames strictly rising, never empty.
    Keys {
        /// The keys.
        keys: Vec<(f64, Vec<f64>)>,
        /// How values move between keys.
        ease: Ease,
        /// Numbers move; whole numbers are rounded; true (1) and false (0) switch at the keys, whatever `ease` says.
        kind: ParamKind,
    },
}

impl Animated {
    /// The value at a frame number (fractions lie between frames). Before the first and after the last key the
    /// value stays.
    pub fn at(&self, frame: f64) -> Value {
        match self {
            Animated::Constant(v) => v.clone(),
            Animated::Keys { keys, ease, kind } => match kind {
                ParamKind::Toggle => Value::Toggle(interpolate(keys, Ease::Hold, frame) != [0.0]),
                ParamKind::Integer => {
                    let numbers = interpolate(keys, *ease, frame);
                    Value::Integers(numbers.iter().map(|x| x.round() as i64).collect())
                }
                _ => Value::Numbers(interpolate(keys, *ease, frame)),
            },
        }
    }

    /// Whether another one has the same values up to a frame, that one included.
    pub fn is_same_until(&self, other: &Self, frame: f64) -> bool {
        /// Places between two keys; what moves between them is a polynomial of less than that degree.
        const PLACES: u32 = 8;
        let keys = |a: &Self| match a {
            Animated::Constant(_) => Vec::new(),
            Animated::Keys { keys, .. } => keys.iter().map(|k| k.0).filter(|at| *at < frame).collect(),
        };
        let mut times = [keys(self), keys(other), vec![frame]].concat();
        times.sort_by(f64::total_cmp);
        let within = |w: &[f64]| {
            let (from, to) = (w[0], w[1]);
            (1..PLACES).map(move |i| from + (to - from) * f64::from(i) / f64::from(PLACES))
        };
        let between: Vec<f64> = times.windows(2).flat_map(within).collect();
        times.into_iter().chain(between).all(|t| self.at(t) == other.at(t))
    }

    /// True when the value changes over time.
    pub fn is_animated(&self) -> bool {
        matches!(self, Animated::Keys { keys, .. } if keys.windows(2).any(|w| w[0].1 != w[1].1))
    }
}

fn interpolate(keys: &[(f64, Vec<f64>)], ease: Ease, frame: f64) -> Vec<f64> {
    let after = keys.partition_point(|k| k.0 <= frame);
    match (after.checked_sub(1).and_then(|i| keys.get(i)), keys.get(after)) {
        (Some(a), Some(b)) => {
            let s = ease.blend((frame - a.0) / (b.0 - a.0));
            a.1.iter().zip(&b.1).map(|(x, y)| x + (y - x) * s).collect()
        }
        (Some(k), None) | (None, Some(k)) => k.1.clone(),
        (None, None) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ease: Ease, frame: f64) -> f64 {
        let keys = vec![(1.0, vec![0.0]), (11.0, vec![10.0])];
        match (Animated::Keys { keys, ease, kind: ParamKind::Number }).at(frame) {
            Value::Numbers(v) => v[0],
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn keys_are_hit_and_held_beyond() {
        for (_, ease) in Ease::NAMES {
            assert_eq!(
                [at(ease, -5.0), at(ease, 1.0), at(ease, 11.0), at(ease, 99.0)],
                [0.0, 0.0, 10.0, 10.0]
            );
        }
    }

    #[test]
    fn eases_differ_between_keys() {
        assert_eq!(at(Ease::Linear, 6.0), 5.0);
        assert_eq!(at(Ease::Hold, 10.9), 0.0);
        assert_eq!(at(Ease::Ease, 6.0), 5.0);
        assert!(at(Ease::Ease, 2.0) < at(Ease::Linear, 2.0));
        assert!(at(Ease::EaseIn, 6.0) < 5.0 && at(Ease::EaseOut, 6.0) > 5.0);
    }

    #[test]
    fn curves_are_the_same_until_they_part() {
        let of = |keys: &[(f64, f64)], ease| Animated::Keys {
            keys: keys.iter().map(|(at, v)| (*at, vec![*v])).collect(),
            ease,
            kind: ParamKind::Number,
        };
        let linear = |keys: &[(f64, f64)]| of(keys, Ease::Linear);
        let still = Animated::Constant(Value::Numbers(vec![2.0]));
        let (parts, moves) = (linear(&[(4.0, 2.0), (5.0, 9.0)]), linear(&[(1.0, 2.0), (5.0, 9.0)]));
        assert!(parts.is_same_until(&still, 4.0) && still.is_same_until(&parts, 4.0));
        assert!(!parts.is_same_until(&still, 4.1) && !moves.is_same_until(&parts, 4.0));
        let held = of(&[(1.0, 0.0), (11.0, 10.0)], Ease::Hold);
        assert!(!held.is_same_until(&of(&[(1.0, 0.0), (11.0, 10.0)], Ease::Linear), 11.0));
        assert!(held.is_same_until(&of(&[(1.0, 0.0), (11.0, 7.0)], Ease::Hold), 10.9));
        for (_, ease) in Ease::NAMES {
            let long = of(&[(1.0, 0.0), (11.0, 10.0), (20.0, 3.0)], ease);
            assert!(long.is_same_until(&of(&[(1.0, 0.0), (11.0, 10.0), (30.0, 0.0)], ease), 11.0));
        }
    }

    #[test]
    fn integers_are_rounded() {
        let keys = vec![(1.0, vec![0.0]), (2.0, vec![1.0])];
        assert_eq!(
            (Animated::Keys { keys, ease: Ease::Linear, kind: ParamKind::Integer }).at(1.6),
            Value::Integers(vec![1])
        );
    }

    #[test]
    fn true_and_false_switch_at_their_keys() {
        let keys = vec![(5.0, vec![0.0]), (9.0, vec![1.0]), (12.0, vec![0.0])];
        for (_, ease) in Ease::NAMES {
            let tap = Animated::Keys { keys: keys.clone(), ease, kind: ParamKind::Toggle };
            let open = [1.0, 5.0, 8.99, 9.0, 11.5, 12.0, 99.0].map(|frame| tap.at(frame));
            assert_eq!(open, [false, false, false, true, true, false, false].map(Value::Toggle));
        }
    }
}
