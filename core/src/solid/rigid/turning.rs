//! Contacts of bodies that turn far in a drift.
//!
//! Where a body meets a solid, every place of its surface that may come near is a contact. The straight way that a velocity gives
//! a place would bring those ahead of a rolling body into the floor, since the ring they run on bends away from it. So gaps
//! are those at the end of the drift, and linear in the velocities about the ones that the body is thought to have.

use super::contact::{Contact, Other};
use super::{Body, Velocity};
use glam::{DQuat, DVec3};

/// Places the contacts with solids where they begin to press, as bodies drift for `next` seconds with these velocities; impulses
/// act there. What bounces stays where it was found to. Where no gap was off by more than `least` of a body's radius, all
/// stay. True if they were placed.
pub(super) fn look_ahead(
    bodies: &[Body],
    contacts: &mut [Contact],
    speeds: &[Velocity],
    (next, least): (f64, f64),
) -> bool {
    let turned: Vec<DQuat> =
        bodies.iter().zip(speeds).map(|(body, speed)| body.flown(*speed, next).orientation).collect();
    let waits = |c: &Contact| matches!(c.other, Other::Body(_)) || c.late.is_some();
    let look = |contact: &Contact| {
        let (body, angular) = (&bodies[contact.body], speeds[contact.body].angular);
        if next <= 0.0 || !body.is_free() || waits(contact) {
            return (contact.at, contact.bend, 0.0);
        }
        let from = contact.own - body.pose.position;
        let rest = body.pose.to_rest(contact.own);
        let begins = arrives(contact.gap, -from.dot(contact.normal), angular.length() * next);
        let arm = body.pose.orientation.slerp(turned[contact.body], begins) * rest;
        let goes = (turned[contact.body] * rest - from).dot(contact.normal);
        let linear = |arm: DVec3| next * angular.cross(arm).dot(contact.normal);
        let before = contact.bend + linear(contact.at - body.pose.position);
        let off = (goes - before).abs() / body.shape.radius();
        (body.pose.position + arm, goes - linear(arm), off)
    };
    let placed: Vec<(DVec3, f64, f64)> = contacts.iter().map(look).collect();
    if placed.iter().all(|(.., off)| *off <= least) {
        return false;
    }
    contacts
        .iter_mut()
        .zip(placed)
        .for_each(|(contact, (at, bend, _))| (contact.at, contact.bend) = (at, bend));
    true
}

/// Turn in a drift, rad, below which bodies count as not turning, little by little: what the impulses of the last substep left of a
/// stack's rocking is no turn that contacts should be moved for.
const STILL: f64 = 0.01;

/// When a place comes to the solid, as a share of the drift in which the body turns by `turn`: a ring about the centre, which is
/// `height` above, has come down to there by then. What touches already, such as the edge on which a body tips, does so at 0.
fn arrives(gap: f64, height: f64, turn: f64) -> f64 {
    let comes_down = 0.5 * turn * turn * height.max(0.0);
    let gap = gap.max(0.0);
    let share = if gap < comes_down { (gap / comes_down).sqrt() } else { 1.0 };
    share * (turn / STILL).min(1.0)
}
