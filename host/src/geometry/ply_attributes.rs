//! Turns further values at the vertices of a PLY file into point attributes: `red green blue` is `Cd`, `alpha` `Alpha`,
//! `nx ny nz` `N`, `s t` or `u v` `uv`, `wx wy wz` `w`, `orient_x orient_y orient_z orient_w` (or `qx` and so on) `orient`; any
//! other number keeps its name.

use super::ply_header::{Property, Scalar};
use crate::data::{Array, Geometry, Owner};

/// Properties that go together: their names, and the attribute they make.
const GROUPS: [(&[&str], &str); 12] = [
    (&["red", "green", "blue"], "Cd"),
    (&["alpha"], "Alpha"),
    (&["nx", "ny", "nz"], "N"),
    (&["s", "t"], "uv"),
    (&["u", "v"], "uv"),
    (&["texture_u", "texture_v"], "uv"),
    (&["wx", "wy", "wz"], "w"),
    (&["orient_x", "orient_y", "orient_z", "orient_w"], "orient"),
    (&["orientx", "orienty", "orientz", "orientw"], "orient"),
    (&["orient0", "orient1", "orient2", "orient3"], "orient"),
    (&["ox", "oy", "oz", "ow"], "orient"),
    (&["qx", "qy", "qz", "qw"], "orient"),
];
/// What positions and velocities are read from, and the names of the attributes they make.
const TAKEN: [&str; 8] = ["x", "y", "z", "vx", "vy", "vz", "P", "v"];

/// One attribute in the making.
#[derive(Debug)]
pub(super) struct Column {
    name: String,
    /// Places of the properties in a row.
    from: Vec<usize>,
    scalar: Scalar,
    /// Components: as many as properties, but three for `uv`, as elsewhere.
    components: usize,
    values: Vec<f64>,
}

/// The attributes that the properties of a vertex make.
pub(super) fn columns(properties: &[Property]) -> Vec<Column> {
    let at = |name: &str| properties.iter().position(|p| p.name == name && p.length.is_none());
    let mut columns: Vec<Column> = Vec::new();
    let mut add = |name: &str, from: Vec<usize>, components: usize| {
        if !columns.iter().any(|c| c.name == name) {
            let scalar = properties[from[0]].scalar;
            columns.push(Column { name: name.to_owned(), from, scalar, components, values: Vec::new() });
        }
    };
    let mut grouped = Vec::new();
    for (names, attribute) in GROUPS {
        if let Some(from) = names.iter().map(|n| at(n)).collect::<Option<Vec<usize>>>() {
            grouped.extend(from.iter().copied());
            add(attribute, from, if attribute == "uv" { 3 } else { names.len() });
        }
    }
    for (i, p) in properties.iter().enumerate() {
        if p.length.is_none() && !grouped.contains(&i) && !TAKEN.contains(&p.name.as_str()) {
            add(&p.name, vec![i], 1);
        }
    }
    columns
}

impl Column {
    /// Takes its values from a vertex.
    pub(super) fn take(&mut self, row: &[f64]) -> Result<(), String> {
        for &i in &self.from {
            if !row[i].is_finite() {
                return Err(format!(
                    "its `{}` is not finite",
                    self.name.chars().take(40).collect::<String>()
                ));
            }
            self.values.push(row[i] / self.unit());
        }
        self.values.extend((self.from.len()..self.components).map(|_| 0.0));
        Ok(())
    }

    /// The value that stands for 1: colours are stored as fractions of the largest integer.
    fn unit(&self) -> f64 {
        match (self.name.as_str(), self.scalar) {
            ("Cd" | "Alpha", Scalar::U8) => f64::from(u8::MAX),
            ("Cd" | "Alpha", Scalar::U16) => f64::from(u16::MAX),
            _ => 1.0,
        }
    }

    /// Puts the attribute on a geometry.
    pub(super) fn put(self, g: &mut Geometry) {
        let is_named = GROUPS.iter().any(|(_, name)| *name == self.name);
        let values = match self.scalar {
            Scalar::F64 if !is_named => Array::F64(self.values),
            Scalar::U32 if !is_named => Array::I64(self.values.iter().map(|&x| x as i64).collect()),
            Scalar::F32 | Scalar::F64 => Array::F32(self.values.iter().map(|&x| x as f32).collect()),
            _ if is_named => Array::F32(self.values.iter().map(|&x| x as f32).collect()),
            _ => Array::I32(self.values.iter().map(|&x| x as i32).collect()),
        };
        g.set(Owner::Point, &self.name, self.components, values);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ply;
    use crate::data::{Array, Meaning, Owner};

    #[test]
    fn rotations_and_spins_become_vectors() {
        for names in ["orient_x orient_y orient_z orient_w", "qx qy qz qw", "orient0 orient1 orient2 orient3"]
        {
            let properties = |names: &str| -> String {
                names.split(' ').map(|n| format!("property float {n}\n")).collect()
            };
            let text = format!(
                "ply\nformat ascii 1.0\nelement vertex 1\n{}{}end_header\n1 2 3 0 0.6 0 0.8 4 5 6\n",
                properties("x y z"),
                properties(&format!("{names} wx wy wz"))
            );
            let g = ply::read(text.as_bytes()).unwrap();
            let orient = g.attribute(Owner::Point, "orient").unwrap();
            assert_eq!((orient.components, &*orient.values), (4, &Array::F32(vec![0.0, 0.6, 0.0, 0.8])));
            assert_eq!(g.point_vectors("w").unwrap(), [[4.0, 5.0, 6.0]]);
        }
    }

    #[test]
    fn a_part_of_a_velocity_is_refused() {
        let of = |names: &str| {
            let properties: String = names.split(' ').map(|n| format!("property float {n}\n")).collect();
            let zeros = "0 ".repeat(names.split(' ').count());
            let header =
                format!("ply\nformat ascii 1.0\nelement vertex 1\n{properties}end_header\n{zeros}\n");
            ply::read(header.as_bytes())
        };
        for (names, part) in [("v", "v"), ("vx", "vx"), ("vx vy", "vx"), ("vz vy", "vy"), ("v s", "v")] {
            let said = of(&format!("x y z {names}")).unwrap_err();
            assert!(said.contains(&format!("`{part}` alone")) && said.contains("vx, vy and vz"), "{said}");
        }
        for names in ["vx vy vz", "u v", "vx vy vz u v", "vx vy vz v"] {
            assert!(of(&format!("x y z {names}")).is_ok(), "{names}");
        }
    }

    #[test]
    fn properties_become_attributes() {
        let text = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
            property uchar red\nproperty uchar green\nproperty uchar blue\nproperty float nx\nproperty float ny\n\
            property float nz\nproperty float s\nproperty float t\nproperty float heat\nproperty int part\n\
            property double age\nproperty float P\nproperty list uchar int ring\nend_header\n\
            0 0 0 255 0 51 0 1 0 0.25 0.75 20.5 -3 1e-300 7 1 5\n1 0 0 0 255 0 1 0 0 1 1 -4 9 2 7 0\n";
        let g = ply::read(text.as_bytes()).unwrap();
        let values = |name: &str| (*g.attribute(Owner::Point, name).unwrap().values).clone();
        assert_eq!(g.defect(), None);
        assert_eq!(g.point_vectors("Cd").unwrap(), [[1.0, 0.0, 0.2], [0.0, 1.0, 0.0]]);
        assert_eq!(g.point_vectors("N").unwrap()[1], [1.0, 0.0, 0.0]);
        assert_eq!(g.point_vectors("uv").unwrap()[0], [0.25, 0.75, 0.0]);
        assert_eq!(values("heat"), Array::F32(vec![20.5, -4.0]));
        assert_eq!(values("part"), Array::I32(vec![-3, 9]));
        assert_eq!(values("age"), Array::F64(vec![1e-300, 2.0]));
        assert_eq!(g.positions()[1], [1.0, 0.0, 0.0], "a property `P` is no position");
        assert!(g.attribute(Owner::Point, "ring").is_none() && g.attribute(Owner::Point, "red").is_none());
        let meaning = |name: &str| g.attribute(Owner::Point, name).unwrap().meaning;
        assert_eq!([meaning("Cd"), meaning("N")], [Meaning::Colour, Meaning::Normal]);
        let nan = text.replace("20.5", "nan");
        assert!(ply::read(nan.as_bytes()).unwrap_err().contains("vertex 1: its `heat` is not finite"));
    }
}
