//! Which volumes the motions of bodies change. Whoever asks what constants a pressure has free (the null space of a system, the
//! closed volumes of a projection) asks here.

use super::attached::orthonormal_of;

/// Share of what a motion moves up to which its sum over a volume is rounding. What a face lets a motion move, (1 − α) h² w, is off
/// by at most 2⁻²⁴ h² w for α and as much for w, both f32. Cut faces are closed by a quarter or more on the mean, so that a sum is
/// off by at most 8 × 2⁻²⁴ of the absolute values; this is twice of it.
const ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

/// A motion: its net outflow into each volume, and all that it moves, in absolute values. Its units and its size do not count,
/// and no mass enters, so that a small float counts like the heavy ship beside it.
pub(crate) type Outflow = (Vec<f64>, f64);

/// An orthonormal basis of the changes of volumes that motions make: as many of the volumes' constants are held. A motion that
/// makes, up to rounding, the changes that others make adds none.
pub(crate) fn changes(motions: impl IntoIterator<Item = Outflow>) -> Vec<Vec<f64>> {
    let shares = motions.into_iter().filter(|(_, moved)| *moved > 0.0).map(|(net, moved)| {
        let share = |net: f64| if net.abs() > ROUNDING * moved { net / moved } else { 0.0 };
        net.into_iter().map(share).collect::<Vec<f64>>()
    });
    let rows: Vec<Vec<f64>> = shares.filter(|row| row.iter().any(|v| *v != 0.0)).collect();
    let count = rows.len();
    orthonormal_of(rows, count, ROUNDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pistons_that_differ_by_rounding_make_one_change() {
        let piston = |size: f64, off: f64| (vec![size, -size * (1.0 + off), 0.0], 2.0 * size);
        assert_eq!(changes([piston(1.0, 0.0), piston(1e-9, 1e-7), piston(1e6, -2e-7)]).len(), 1);
        assert_eq!(changes([piston(1.0, 0.0), piston(1e-9, 1e-4)]).len(), 2);
        // What floats changes nothing, however much it moves.
        assert_eq!(changes([(vec![1e-7, 0.0, 0.0], 1.0)]).len(), 0);
        let basis = changes([piston(1.0, 0.0)]);
        assert!(
            (basis[0][0] + basis[0][1]).abs() < 1e-15 && (basis[0][0].abs() - 0.5f64.sqrt()).abs() < 1e-15
        );
    }
}
