//! Parameters of a descriptor.

use super::{Reader, once};
use crate::node::{ParamSpec, Range, Value};
use crate::text::number;
use meniscus_abi as abi;

/// A parameter as the host knows it.
pub(super) fn param(read: &Reader, p: &abi::Param) -> Result<ParamSpec, String> {
    let (name, label, help) = (read.name(p.name, "a parameter")?, read.text(p.label), read.text(p.help));
    if p.default_number.iter().any(|x| !x.is_finite()) || p.range.iter().any(|x| x.is_nan()) {
        return Err(format!("the default or the range of parameter `{name}` is no number"));
    }
    let label = if label.is_empty() { name.clone() } else { label };
    let [x, y, z] = p.default_number;
    let mut spec = match p.ty {
        abi::ParamType::FLOAT => ParamSpec::number(&name, &label, &[x], "", &help),
        abi::ParamType::VECTOR3 => ParamSpec::number(&name, &label, &[x, y, z], "", &help),
        abi::ParamType::INT => ParamSpec::integer(&name, &label, x as i64, &help),
        abi::ParamType::TOGGLE => ParamSpec::toggle(&name, &label, x != 0.0, &help),
        abi::ParamType::STRING => ParamSpec::text(&name, &label, &read.text(p.default_text), &help),
        abi::ParamType::FILE => {
            let default = Value::Text(read.text(p.default_text));
            ParamSpec { default, ..ParamSpec::file(&name, &label, &help) }
        }
        abi::ParamType::MENU => {
            let items = menu(read, p)?;
            once(&items, |m| m.0.clone(), &format!("entries of menu `{name}`"))?;
            let entry = (x >= 0.0 && x.fract() == 0.0).then(|| items.get(x as usize)).flatten();
            let default = entry.map(|m| m.0.clone()).ok_or_else(|| {
                let (shown, count) = (number(x), items.len());
                format!("the default of menu `{name}` is entry {shown}, counted from 0 it has {count}")
            })?;
            let items: Vec<(&str, &str)> = items.iter().map(|(t, l)| (t.as_str(), l.as_str())).collect();
            ParamSpec { default: Value::Text(default), ..ParamSpec::menu(&name, &label, &items, &help) }
        }
        other => return Err(format!("parameter `{name}` has the unknown type {}", other.0)),
    };
    if name.is_empty() {
        return Err("a parameter has no name".into());
    }
    if p.ty == abi::ParamType::INT && x.fract() != 0.0 {
        return Err(format!("the default of parameter `{name}` is {}, no whole number", number(x)));
    }
    in_range(p, &name)?;
    let end = |x: f64, flag: u32| (p.flags & flag != 0).then_some(x);
    let ranged = p.range[0] != p.range[1] || p.flags & (abi::flags::HARD_MIN | abi::flags::HARD_MAX) != 0;
    spec.range = Range {
        hard_min: end(p.range[0], abi::flags::HARD_MIN),
        hard_max: end(p.range[1], abi::flags::HARD_MAX),
        soft_min: ranged.then_some(p.range[0]),
        soft_max: ranged.then_some(p.range[1]),
    };
    spec.folder = read.text(p.folder);
    spec.unit = read.text(p.unit);
    spec.disable_when = read.text(p.disable_when);
    spec.houdini_name = read.text(p.houdini_name);
    spec.animatable = p.flags & abi::flags::NOT_ANIMATED == 0;
    spec.means = meaning(p, &name)?;
    Ok(spec)
}

/// What a parameter means, if its type can mean it.
fn meaning(p: &abi::Param, name: &str) -> Result<abi::Means, String> {
    use abi::{Means, ParamType};
    let fits = match p.means {
        Means::NOTHING => true,
        Means::FIRST_FRAME | Means::LAST_FRAME => p.ty == ParamType::INT,
        Means::SEPARATION | Means::VOXEL_SCALE | Means::VOXEL => p.ty == ParamType::FLOAT,
        Means::BOX_CENTER | Means::BOX_SIZE | Means::VELOCITY => p.ty == ParamType::VECTOR3,
        Means::ACTIVE | Means::DRIVES => p.ty == ParamType::TOGGLE,
        Means(side) if (Means::BOX_NEG_X.0..=Means::BOX_POS_Z.0).contains(&side) => p.ty == ParamType::MENU,
        Means(other) => return Err(format!("parameter `{name}` has the unknown meaning {other}")),
    };
    match fits {
        true => Ok(p.means),
        false => Err(format!("parameter `{name}` has the meaning {}, which its type cannot have", p.means.0)),
    }
}

/// Refuses two parameters of one meaning.
pub(super) fn meant_once(params: &[ParamSpec]) -> Result<(), String> {
    let meant: Vec<&ParamSpec> = params.iter().filter(|p| p.means != abi::Means::NOTHING).collect();
    let twice = meant.iter().enumerate().find(|(i, p)| meant[..*i].iter().any(|q| q.means == p.means));
    twice.map_or(Ok(()), |(_, p)| Err(format!("two parameters have the meaning of `{}`", p.name)))
}

/// Refuses a range that ends before it begins, and a default that it would refuse of a graph.
fn in_range(p: &abi::Param, name: &str) -> Result<(), String> {
    let [least, most] = p.range;
    if least > most {
        let (least, most) = (number(least), number(most));
        return Err(format!("the range of parameter `{name}` begins at {least} and ends at {most}"));
    }
    let numbers = match p.ty {
        abi::ParamType::FLOAT | abi::ParamType::INT => &p.default_number[..1],
        abi::ParamType::VECTOR3 => &p.default_number[..],
        _ => &[],
    };
    let has = |flag| p.flags & flag != 0;
    let outside =
        |x: &&f64| has(abi::flags::HARD_MIN) && **x < least || has(abi::flags::HARD_MAX) && **x > most;
    match numbers.iter().find(outside) {
        Some(x) => Err(format!(
            "the default of parameter `{name}`, {}, lies outside its own range of {} to {}",
            number(*x),
            if has(abi::flags::HARD_MIN) { number(least) } else { "anything".into() },
            if has(abi::flags::HARD_MAX) { number(most) } else { "anything".into() }
        )),
        None => Ok(()),
    }
}

fn menu(read: &Reader, p: &abi::Param) -> Result<Vec<(String, String)>, String> {
    let items = read.items(p.menu, p.menu_count, "menu entries")?;
    items.iter().map(|m| Ok((read.name(m.token, "a menu entry")?, read.text(m.label)))).collect()
}
