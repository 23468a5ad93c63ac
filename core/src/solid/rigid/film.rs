//! The film of liquid that comes between a body and what it touches.

use super::Body;

/// Thickness, voxels. In less than a voxel there is no cell whose pressure would push the body off a floor; in one that is
/// filled to its edges the particles leave air: a stone weighs twice as much then as it does under water, and 1.5 % less in
/// 1.1, 0.9 % more in 1.25, 0.3 % in 1.5 voxels.
const THICKNESS: f64 = 1.5;
/// Time in which it comes, s, or goes where the liquid goes.
const SEEPING: f64 = 0.25;

impl Body {
    /// Lets liquid seep in below the body where that touches it, and out where it does not, for `dt` seconds.
    /// `voxel`: of the liquid, m.
    pub fn seep(&mut self, touched: bool, voxel: f64, dt: f64) {
        let most = THICKNESS * voxel;
        let more = most * dt / SEEPING;
        self.film = (self.film + if touched { more } else { -more }).clamp(0.0, most);
    }
}
