//! Meshes of known shapes for tests.

use super::TriMesh;
use glam::Vec3;
use std::f32::consts::TAU;

/// A box from the origin to `size`.
pub fn cuboid(size: Vec3) -> TriMesh {
    let points =
        (0..8).map(|n| Vec3::new((n & 1) as f32, (n >> 1 & 1) as f32, (n >> 2) as f32) * size).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    TriMesh { points, triangles, velocities: None }
}

/// A sphere about the origin: a cube of `n` × `n` squares a side, blown up.
pub fn ball(radius: f32, n: u32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for side in 0..6usize {
        let (axis, sign) = (side / 2, if side % 2 == 0 { -1.0 } else { 1.0 });
        let base = mesh.points.len() as u32;
        let line = |i: u32| (std::f32::consts::FRAC_PI_4 * (2.0 * i as f32 / n as f32 - 1.0)).tan();
        for i in 0..=n {
            for j in 0..=n {
                let mut p = Vec3::ZERO;
                p[axis] = sign;
                p[(axis + 1) % 3] = line(i);
                p[(axis + 2) % 3] = line(j);
                // Points shared by two sides must be the same in every bit: round to a lattice.
                mesh.points.push((p.normalize() * 65536.0).round() / 65536.0 * radius);
            }
        }
        for i in 0..n {
            for j in 0..n {
                let at = |i: u32, j: u32| base + i * (n + 1) + j;
                let quad = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                mesh.triangles.extend(if sign > 0.0 {
                    [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
                } else {
                    [[quad[0], quad[2], quad[1]], [quad[0], quad[3], quad[2]]]
                });
            }
        }
    }
    mesh
}

/// A drum about the y axis, its middle at the origin.
pub fn drum(radius: f32, height: f32, columns: u32) -> TriMesh {
    let mut mesh =
        TriMesh { points: vec![Vec3::Y * (-0.5 * height), Vec3::Y * (0.5 * height)], ..TriMesh::default() };
    for n in 0..columns {
        let u = TAU * n as f32 / columns as f32;
        let at = |y: f32| Vec3::new(radius * u.cos(), y * height, radius * u.sin());
        mesh.points.extend([at(-0.5), at(0.5)]);
        let corner = |n: u32, top: u32| 2 + 2 * (n % columns) + top;
        let [a, b, c, d] = [corner(n, 0), corner(n, 1), corner(n + 1, 0), corner(n + 1, 1)];
        mesh.triangles.extend([[0, a, c], [1, d, b], [a, b, c], [c, b, d]]);
    }
    mesh
}

/// A torus about the y axis.
pub fn torus(radius: f32, tube: f32, around: u32, across: u32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for i in 0..around {
        for j in 0..across {
            let (u, v) = (TAU * i as f32 / around as f32, TAU * j as f32 / across as f32);
            let r = radius + tube * v.cos();
            mesh.points.push(Vec3::new(r * u.cos(), tube * v.sin(), r * u.sin()));
            let at = |i: u32, j: u32| (i % around) * across + j % across;
            let quad = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
            mesh.triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
        }
    }
    mesh
}
