//! `preview`: a ray-traced picture of every frame and a contact sheet of the shot.

use super::drawn::{Drawn, ONLY_GEOMETRY, choose, chosen, foam_surface};
use super::foam::Foam;
use super::framing::{self, Bounds, NOWHERE, View, frame as frame_camera};
use super::moving;
use super::picture::Picture;
use super::{FRAME, Frame, Offer, Output, OutputError, Shot, sheet};
use crate::data;
use crate::node::{NodeKind, NodeType, ParamSpec, Params, Value};
use glam::DVec3;
use openvdb_sys::{Camera, Surface};
use std::path::{Path, PathBuf};

/// Distance of the studio floor below the shot, in diagonals of the shot: if they touched, floor and shot would
/// flicker.
const FLOOR_GAP: f64 = 0.004;

/// The node at work.
pub struct Preview {
    shot: Shot,
}

/// Its description.
pub fn node_type() -> NodeType {
    let help = "Draws the objects: one picture (.png) per frame, and a contact sheet at the end. Liquids look like \
                water and solids like glass, so that the liquid inside them stays visible. Where a mesh of a liquid is wired in, liquids are drawn from it; leave its object out by name to see their level sets.";
    NodeType::host("meniscus.preview", "Preview", NodeKind::Output, (1, None), help).with(parameters())
}

fn parameters() -> Vec<ParamSpec> {
    let when = |condition: &str, spec: ParamSpec| ParamSpec { disable_when: condition.into(), ..spec };
    let framed = |spec| when("{ camera == given }", spec);
    let given = |spec| when("{ camera == auto }", spec);
    let [azimuth, elevation, field_of_view] = framing::parameters();
    let resolution = ParamSpec::integer("resolution", "Resolution", 0, "Width and height of the pictures.");
    vec![
        ParamSpec {
            components: 2,
            default: Value::Integers(vec![640, 480]),
            unit: "pixels".into(),
            houdini_name: "res".into(),
            animatable: false,
            ..resolution.within(Some(16.0), Some(8192.0))
        },
        ParamSpec::menu(
            "camera",
            "Camera",
            &[("auto", "Frames the Shot"), ("given", "As Given")],
            "Frames the Shot: the camera stands still where it sees all objects as they are at the start. As \
             Given: it stands at Position and looks at Look At; both may be animated.",
        ),
        framed(azimuth),
        framed(elevation),
        given(ParamSpec::number(
            "position",
            "Position",
            &[0.0, 0.5, 2.0],
            "m",
            "Position of the given camera.",
        )),
        given(ParamSpec::number(
            "look_at",
            "Look At",
            &[0.0; 3],
            "m",
            "Point that the given camera looks at.",
        )),
        field_of_view,
        ParamSpec::names(
            "objects",
            "Objects",
            "*",
            "Objects to draw, by name. * stands for any part of a name; ^ before a name leaves it out.",
        ),
        ParamSpec::names(
            "glass",
            "Glass",
            "*",
            "Solids drawn as clear glass, by their name or that of their geometry; the others are drawn as opaque clay.",
        ),
        ParamSpec::toggle(
            "body_colors",
            "Bodies in Colors",
            true,
            "On: each body that is not glass has a color of its own, so that it can be followed. Off: all are of grey clay.",
        ),
        ParamSpec {
            animatable: false,
            ..ParamSpec::integer(
                "sheet",
                "Pictures on the Sheet",
                12,
                "Number of pictures on the contact sheet, evenly spread over the shot; 0: no sheet.",
            )
            .within(Some(0.0), Some(400.0))
        },
        ParamSpec {
            animatable: false,
            ..ParamSpec::toggle(
                "moving",
                "Moving Picture",
                true,
                "On: at the end the pictures also become one that moves (animated PNG), at the shot's speed and at most 480 pixels wide, to be shown in browsers and chats. Off: there is none.",
            )
        },
    ]
}

impl Preview {
    /// A node for a shot.
    pub fn new(shot: Shot) -> Self {
        Self { shot }
    }

    /// Bounds of everything that may be drawn; the same at every frame.
    fn bounds(&self, drawn: &[Drawn], params: &Params) -> Bounds {
        let pattern = chosen(params);
        let known = self
            .shot
            .extents
            .iter()
            .filter(|(name, _)| pattern.matches(name))
            .map(|(_, b)| *b)
            .reduce(Bounds::union);
        let now = || drawn.iter().filter_map(Drawn::bounds).reduce(Bounds::union);
        known.or_else(now).unwrap_or(NOWHERE)
    }
}

impl Output for Preview {
    fn write(&mut self, frame: &Frame) -> Result<Vec<PathBuf>, OutputError> {
        let params = frame.params;
        let (width, height) = resolution(params);
        let drawn = choose(frame, width.max(height), &self.shot)?;
        let bounds = self.bounds(&drawn, params);
        let camera = camera(params, &bounds, f64::from(width) / f64::from(height))?;
        let picture = openvdb_sys::Picture {
            width,
            height,
            threads: self.shot.threads.max(1) as usize,
            floor: bounds.min.y - FLOOR_GAP * bounds.diagonal(),
            size: bounds.diagonal().max(f64::MIN_POSITIVE),
            target: bounds.middle().to_array(),
        };
        let objects = frame.scene.objects.iter().filter(|o| chosen(params).matches(&o.name));
        let dots = objects.flat_map(|o| o.drawn_geometry(data::Drawn::Dots));
        let foams: Vec<Foam> = dots.filter_map(Foam::of).collect();
        let surfaces: Vec<Surface> =
            drawn.iter().map(Drawn::surface).chain(foams.iter().map(foam_surface)).collect();
        let rgb = openvdb_sys::render(&surfaces, &camera, &picture, &self.shot.halt)
            .map_err(|e| OutputError::new(format!("the picture cannot be drawn: {e}")))?
            .ok_or_else(OutputError::halted)?;
        let path = frame.file(frame.node, "png");
        Picture { width: width as usize, height: height as usize, rgb }.write(&path, &self.shot.halt)?;
        Ok(vec![path])
    }

    fn files(&self, node: &str, _params: &Params, _offer: &Offer) -> Vec<String> {
        // A sheet or a moving picture is also there when the shot was cooked with one before.
        vec![format!("{node}.{FRAME}.png"), sheet::name(node), moving::name(node)]
    }

    fn finish(&mut self, folder: &Path, node: &str) -> Result<Vec<PathBuf>, OutputError> {
        let count = self.shot.params.integer("sheet").clamp(0, 400) as usize;
        let Shot { frames, fps, halt, .. } = &self.shot;
        let sheet = sheet::contact_sheet(folder, node, *frames, count, halt)?;
        let moving = match self.shot.params.toggle("moving") {
            true => moving::moving_picture(folder, node, *frames, *fps, halt)?,
            false => None,
        };
        Ok(sheet.into_iter().chain(moving).collect())
    }
}

/// Refuses a camera that looks nowhere, and names that choose nothing.
pub(super) fn check(params: &Params, offer: &Offer) -> Result<(), OutputError> {
    let chosen = chosen(params);
    let all = || offer.objects.iter().map(|o| &o.object);
    if !all().any(|name| chosen.matches(name)) {
        let names: Vec<&str> = all().map(String::as_str).collect();
        return Err(OutputError::param("objects", Offer::no_such_name(&names)));
    }
    if !offer.objects.iter().any(|o| !o.is_mesh && chosen.matches(&o.object)) {
        return Err(OutputError::param("objects", ONLY_GEOMETRY));
    }
    camera(params, &NOWHERE, 1.0).map(drop)
}

/// Pixels of a picture.
pub(super) fn pixels(params: &Params) -> f64 {
    let (width, height) = resolution(params);
    f64::from(width) * f64::from(height)
}

fn resolution(params: &Params) -> (u32, u32) {
    let [width, height] = match params.values.get("resolution") {
        Some(Value::Integers(v)) => [0, 1].map(|i| v.get(i).copied().unwrap_or(0)),
        _ => [0, 0],
    };
    (width.clamp(1, 16384) as u32, height.clamp(1, 16384) as u32)
}

fn camera(params: &Params, bounds: &Bounds, aspect: f64) -> Result<Camera, OutputError> {
    let fov = params.number("field_of_view");
    if params.text("camera") != "given" {
        let view = View { azimuth: params.number("azimuth"), elevation: params.number("elevation") };
        return Ok(frame_camera(bounds, view, fov, aspect));
    }
    let (position, look_at) = (params.vector("position"), params.vector("look_at"));
    let direction = DVec3::from(look_at) - DVec3::from(position);
    if direction.length() == 0.0 {
        return Err(OutputError::param("look_at", "the camera stands where it looks at"));
    }
    Ok(Camera { position, look_at, fov })
}

#[cfg(test)]
mod tests {
    use super::super::test_scene::{RADIUS, ball, defaults, grid, offer, scene};
    use super::*;
    use crate::data::{Data, Geometry, GridClass, Lifetime, Object, Sampling, Scene, Shown};
    use crate::output::surface;
    use std::sync::Arc;

    fn params(changes: &[(&str, Value)]) -> Params {
        let mut params = defaults(&node_type());
        params.values.insert("resolution".into(), Value::Integers(vec![80, 60]));
        params.values.extend(changes.iter().map(|(k, v)| ((*k).to_owned(), v.clone())));
        params
    }

    fn text(t: &str) -> Value {
        Value::Text(t.into())
    }

    /// The ball of liquid in a ball of glass.
    fn cased() -> Scene {
        let mut scene = scene();
        let mut glass = Object::new("glass", "meniscus.static_object");
        let walls = |p: [f64; 3]| (ball(p) - 0.02).abs() - 0.02;
        let solid = Shown { class: GridClass::LevelSet, drawn: Some(data::Drawn::Solid) };
        glass.show(
            "collision",
            Lifetime::State,
            solid,
            Data::Grid(grid(Sampling::Centre, 1, walls, |_, p| walls(p))),
        );
        scene.objects.push(glass);
        scene
    }

    fn preview(params: &Params) -> Preview {
        let ball = Bounds { min: DVec3::splat(-RADIUS), max: DVec3::splat(RADIUS) };
        let extents = vec![("water".to_owned(), ball)];
        let halt = Arc::default();
        let (still, volumes, made_of) = (Vec::new(), Vec::new(), vec![("glass".into(), "cup".into())]);
        Preview::new(Shot {
            frames: (1, 9),
            fps: 24.0,
            threads: 2,
            params: params.clone(),
            halt,
            extents,
            still,
            made_of,
            volumes,
        })
    }

    fn shoot(scene: &Scene, params: &Params) -> Result<Picture, OutputError> {
        let folder = tempfile::tempdir().unwrap();
        let frame = Frame {
            number: 3,
            fps: 24.0,
            node: "look",
            scene,
            offer: &offer(scene),
            params,
            folder: folder.path(),
        };
        let files = preview(params).write(&frame)?;
        assert_eq!(files, [folder.path().join("look.0003.png")]);
        Picture::read(&files[0])
    }

    /// How blue the pixel is.
    fn blueness(p: &Picture, x: usize, y: usize) -> i32 {
        let at = (y * p.width + x) * 3;
        i32::from(p.rgb[at + 2]) - i32::from(p.rgb[at])
    }

    #[test]
    fn the_liquid_is_framed_and_seen_through_its_case() {
        for scene in [scene(), cased()] {
            let p = shoot(&scene, &params(&[])).unwrap();
            assert_eq!((p.width, p.height), (80, 60));
            assert!(blueness(&p, 40, 30) > 40, "{}", blueness(&p, 40, 30));
            assert!(blueness(&p, 40, 1) < 30 && blueness(&p, 2, 30) < 30);
        }
    }

    #[test]
    fn objects_are_chosen_by_name() {
        let clay = shoot(&cased(), &params(&[("glass", text(""))])).unwrap();
        let by_mesh = shoot(&cased(), &params(&[("glass", text("cup"))])).unwrap();
        assert_eq!(by_mesh, shoot(&cased(), &params(&[("glass", text("glass"))])).unwrap());
        assert_ne!(by_mesh, clay);
        assert!(blueness(&clay, 40, 30) < 20, "clay hides the liquid");
        let alone = shoot(&cased(), &params(&[("objects", text("* ^glass"))])).unwrap();
        assert_eq!(alone, shoot(&scene(), &params(&[])).unwrap());
        let error = shoot(&cased(), &params(&[("objects", text("watr"))])).unwrap_err();
        assert_eq!(error.param, Some("objects"));
        assert!(error.sentence.contains("water, glass"), "{error}");
        let mut mesh = Object::new("mesh", "meniscus.box");
        mesh.set("geometry", Lifetime::Substep, Data::Geometry(Geometry::default()));
        let error = shoot(&Scene { objects: vec![mesh] }, &params(&[])).unwrap_err();
        assert!(error.sentence.contains("an object is made of it"), "{error}");
    }

    #[test]
    fn level_sets_are_shown_at_points_where_an_object_says_so() {
        let mut scene = scene();
        let liquid = Shown { class: GridClass::Plain, drawn: Some(data::Drawn::Liquid) };
        let show = |scene: &mut Scene, points: &[[f32; 3]]| {
            let points = Data::Geometry(Geometry::from_points(points));
            scene.objects[0].show("places", Lifetime::State, liquid, points);
            let p = shoot(scene, &params(&[("field_of_view", Value::Numbers(vec![60.0]))])).unwrap();
            [20, 40, 60].map(|x| blueness(&p, x, 30) > 40)
        };
        let step = RADIUS as f32 * 2.0;
        assert_eq!(show(&mut scene, &[[0.0; 3]]), [false, true, false]);
        assert_eq!(show(&mut scene, &[[-step, 0.0, 0.0], [step, 0.0, 0.0]]), [true, false, true]);
        assert_eq!(show(&mut scene, &[]), [false; 3]);
    }

    #[test]
    fn a_mesh_of_a_liquid_is_drawn_in_place_of_its_level_set() {
        let mut scene = scene();
        let water = &scene.objects[0];
        let made = surface::polygons(water, water.grid("surface").unwrap(), 2).unwrap();
        let faces: Vec<[u32; 3]> =
            made.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        // A ball of half the size, made of triangles.
        let corners: Vec<[f32; 3]> = made.points.iter().map(|p| p.map(|c| 0.5 * c)).collect();
        let shown = Shown { class: GridClass::Plain, drawn: Some(data::Drawn::Liquid) };
        let mut object = Object::new("render", "meniscus.mesh_object");
        let mesh = Data::Geometry(Geometry::from_triangles(&corners, &faces));
        object.show("render_mesh", Lifetime::Substep, shown, mesh);
        let blue = |picture: &Picture| blueness(picture, picture.width / 2, picture.height / 2);
        let alone = shoot(&scene, &params(&[])).unwrap();
        scene.objects.push(object);
        let both = shoot(&scene, &params(&[])).unwrap();
        let without = shoot(&scene, &params(&[("objects", text("* ^render"))])).unwrap();
        assert_eq!(alone.rgb, without.rgb, "left out by name");
        assert!(blue(&alone) > 40 && blue(&both) > 40, "water in the middle of both");
        let seen = |picture: &Picture| {
            (0..picture.width).filter(|&x| blueness(picture, x, picture.height / 2) > 40).count()
        };
        let ratio = seen(&both) as f64 / seen(&alone) as f64;
        assert!((ratio - 0.5).abs() < 0.15, "half as wide: {ratio}");
    }

    #[test]
    fn a_given_camera_looks_from_where_it_is_told() {
        let given = |position: [f64; 3], look_at: [f64; 3]| {
            let position = Value::Numbers(position.to_vec());
            let changes = [
                ("camera", text("given")),
                ("position", position),
                ("look_at", Value::Numbers(look_at.to_vec())),
            ];
            shoot(&scene(), &params(&changes))
        };
        assert!(blueness(&given([0.0, 0.0, 2.0], [0.0; 3]).unwrap(), 40, 30) > 40);
        assert!(blueness(&given([0.0, 2.0, 0.0], [0.0; 3]).unwrap(), 40, 30) > 40, "straight down");
        assert!(blueness(&given([0.0, 0.0, 2.0], [0.0, 0.0, 4.0]).unwrap(), 40, 30) < 30, "away");
        assert_eq!(given([1.0; 3], [1.0; 3]).unwrap_err().param, Some("look_at"));
    }

    #[test]
    fn the_frame_stays_while_the_liquid_moves() {
        let mut moved = scene();
        if let Some(Data::Grid(g)) = moved.objects[0].ports.get_mut("surface").map(|p| &mut p.data) {
            g.transform[13] -= 0.1;
        }
        let (before, after) = (shoot(&scene(), &params(&[])).unwrap(), shoot(&moved, &params(&[])).unwrap());
        assert!(blueness(&before, 40, 12) > 40 && blueness(&after, 40, 12) < 40);
    }

    #[test]
    fn the_sheet_is_made_of_the_files_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let (scene, params) = (scene(), params(&[("sheet", Value::Integers(vec![4]))]));
        let write = |number: i32| {
            let frame = Frame {
                number,
                fps: 24.0,
                node: "look",
                scene: &scene,
                offer: &offer(&scene),
                params: &params,
                folder: folder.path(),
            };
            preview(&params).write(&frame).unwrap();
        };
        assert_eq!(preview(&params).finish(folder.path(), "look").unwrap(), [] as [PathBuf; 0]);
        (1..=11).for_each(write);
        let sheet = preview(&params).finish(folder.path(), "look").unwrap();
        assert_eq!(sheet, ["look_sheet.png", "look_moving.png"].map(|name| folder.path().join(name)));
        let whole = std::fs::read(&sheet[0]).unwrap();
        std::fs::remove_file(&sheet[0]).unwrap();
        preview(&params).finish(folder.path(), "look").unwrap();
        assert_eq!(std::fs::read(&sheet[0]).unwrap(), whole, "another process ends with the same sheet");
        std::fs::write(folder.path().join("look.0009.png"), b"cut").unwrap();
        let error = preview(&params).finish(folder.path(), "look").unwrap_err();
        assert!(error.sentence.contains("look.0009.png"), "{error}");
        let none = self::params(&[("sheet", Value::Integers(vec![0])), ("moving", Value::Toggle(false))]);
        assert!(preview(&none).finish(folder.path(), "look").unwrap().is_empty());
    }
}
