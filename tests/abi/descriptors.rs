//! What our plugin says about its nodes is complete enough for an artist, and contradicts itself nowhere.

use libloading::Library;
use meniscus_abi as abi;
use meniscus_tests::c;
use std::collections::BTreeSet;
use std::ffi::c_char;

fn with_nodes(check: impl Fn(&str, &abi::Node)) {
    // SAFETY: loading our plugin runs no code of it.
    let library = unsafe { Library::new(c::our_plugin()) }.expect("our plugin loads");
    // SAFETY: the symbol is of this type by the contract.
    let plugin = unsafe { *library.get::<*const abi::Plugin>(b"mns_plugin").expect("it exports its table") };
    // SAFETY: descriptors are constant while the library is loaded.
    let plugin = unsafe { abi::read(plugin) }.expect("a table");
    assert_eq!((plugin.abi_major, plugin.layout_hash), (abi::ABI_MAJOR, abi::LAYOUT_HASH));
    // SAFETY: as above.
    let nodes = unsafe { abi::read_array(plugin.nodes, plugin.node_count) };
    assert!(!nodes.is_empty());
    nodes.iter().for_each(|n| check(text(n.id), n));
}

fn text<'a>(from: *const c_char) -> &'a str {
    // SAFETY: constant strings of a library that stays loaded during the check.
    unsafe { abi::text(from) }.unwrap_or("")
}

fn ports(node: &abi::Node) -> Vec<abi::Port> {
    // SAFETY: as above.
    unsafe { abi::read_array(node.ports, node.port_count) }
}

fn params(node: &abi::Node) -> Vec<abi::Param> {
    // SAFETY: as above.
    unsafe { abi::read_array(node.params, node.param_count) }
}

#[test]
fn nodes_and_parameters_explain_themselves() {
    with_nodes(|id, node| {
        assert!(id.starts_with("meniscus."), "{id}");
        assert!(!text(node.label).is_empty() && text(node.help).ends_with('.'), "{id}: label, help");
        let mut names = BTreeSet::new();
        for p in params(node) {
            let name = text(p.name);
            assert!(names.insert(name.to_owned()), "{id}: two parameters `{name}`");
            assert!(!text(p.label).is_empty(), "{id}.{name}: no label");
            assert!(text(p.help).ends_with('.'), "{id}.{name}: help is a sentence");
        }
    });
}

#[test]
fn defaults_lie_in_their_ranges() {
    with_nodes(|id, node| {
        for p in params(node) {
            let (name, value) = (text(p.name), p.default_number[0]);
            let at = format!("{id}.{name}");
            if p.range[0] < p.range[1] {
                assert!(p.flags & abi::flags::HARD_MIN == 0 || value >= p.range[0], "{at} below its range");
                assert!(p.flags & abi::flags::HARD_MAX == 0 || value <= p.range[1], "{at} above its range");
            }
            assert_eq!(p.ty == abi::ParamType::MENU, p.menu_count > 0, "{at}: menu");
            assert!(p.ty != abi::ParamType::MENU || value < f64::from(p.menu_count), "{at}: default entry");
        }
    });
}

#[test]
fn ports_are_used_by_stages_that_exist() {
    with_nodes(|id, node| {
        let mut names = BTreeSet::new();
        for port in ports(node) {
            let name = text(port.name);
            assert!(!text(port.help).is_empty(), "{id}.{name}: no help");
            // A force's ports without a name differ by what they stand for.
            let shape = name.is_empty().then_some((port.carries, port.sampling));
            assert!(names.insert((port.owner, name.to_owned(), shape)), "{id}: two ports `{name}`");
            let used: Vec<abi::Stage> = abi::Stage::ALL
                .iter()
                .map(|&(s, _)| s)
                .filter(|&s| port.access(s) != abi::Access::NONE)
                .collect();
            assert!(!used.is_empty(), "{id}.{name} is used by no stage");
            assert!(used.iter().all(|&s| node.implements(s)), "{id}.{name}: {used:?} is not implemented");
        }
        for stage in abi::Stage::ALL.iter().map(|&(s, _)| s).filter(|&s| node.implements(s)) {
            let touches = ports(node).iter().any(|p| p.access(stage) != abi::Access::NONE);
            assert!(touches, "{id}: stage {stage:?} touches no port");
        }
    });
}

/// Two nodes that name the same data of an object mean the same data.
#[test]
fn shared_data_is_declared_alike() {
    let seen = std::cell::RefCell::new(std::collections::BTreeMap::new());
    with_nodes(|id, node| {
        let is_shared = |p: &&abi::Port| {
            p.owner != abi::Owner::INPUT && p.owner != abi::Owner::NODE && !text(p.name).is_empty()
        };
        for port in ports(node).iter().filter(is_shared) {
            let declared = (port.carries, port.sampling, port.element, port.components, port.lifetime);
            let mut seen = seen.borrow_mut();
            let first = seen.entry(text(port.name).to_owned()).or_insert((id.to_owned(), declared));
            assert_eq!(first.1, declared, "`{}` of {} and of {id}", text(port.name), first.0);
        }
    });
}
