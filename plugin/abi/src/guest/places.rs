//! Places of ports and parameters in a node's lists, found by their names while the plugin is compiled.

use crate::{Owner, Param, Port};
use std::ffi::{CStr, c_char};

/// Place of the port of that name. In a constant, a name that no port or several have does not compile.
pub const fn port_place(ports: &[Port], name: &str) -> u32 {
    place(ports, None, name)
}

/// As [`port_place`], among the ports of the participants of a role.
pub const fn port_place_of_role(ports: &[Port], role: u32, name: &str) -> u32 {
    place(ports, Some((Owner::PARTICIPANT, role)), name)
}

/// As [`port_place`], among the ports of the members of a role.
pub const fn port_place_of_members(ports: &[Port], role: u32, name: &str) -> u32 {
    place(ports, Some((Owner::MEMBER, role)), name)
}

/// As [`port_place`], among the ports of an owner other than a participant or a member.
pub const fn port_place_of_owner(ports: &[Port], owner: Owner, name: &str) -> u32 {
    place(ports, Some((owner, 0)), name)
}

const fn place(ports: &[Port], of: Option<(Owner, u32)>, name: &str) -> u32 {
    let (mut place, mut found) = (ports.len(), 0);
    let mut i = 0;
    while i < ports.len() {
        let meant = match of {
            None => true,
            Some((owner, role)) => ports[i].owner.0 == owner.0 && ports[i].role == role,
        };
        if meant && is_called(ports[i].name, name) {
            place = i;
            found += 1;
        }
        i += 1;
    }
    assert!(found == 1, "one port of the list must have this name");
    place as u32
}

/// Place of the parameter of that name. In a constant, a name that no parameter or several have does not compile.
pub const fn param_place(params: &[Param], name: &str) -> usize {
    let (mut place, mut found) = (params.len(), 0);
    let mut i = 0;
    while i < params.len() {
        if is_called(params[i].name, name) {
            place = i;
            found += 1;
        }
        i += 1;
    }
    assert!(found == 1, "one parameter of the list must have this name");
    place
}

const fn is_called(text: *const c_char, name: &str) -> bool {
    if text.is_null() {
        return false;
    }
    // SAFETY: the pointers of a descriptor lead to constants, as its `Sync` says.
    let (text, name) = (unsafe { CStr::from_ptr(text) }.to_bytes(), name.as_bytes());
    let mut same = text.len() == name.len();
    let mut i = 0;
    while same && i < name.len() {
        same = text[i] == name[i];
        i += 1;
    }
    same
}

/// Place of a node's parameter: `call.number(param!(PARAMS, density))`. A wrong name does not compile.
///
/// ```
/// use meniscus_abi::{Param, param};
/// const PARAMS: &[Param] = &[Param::toggle(c"active", c"Active", true), Param::float(c"density", c"Density", 1e3)];
/// assert_eq!(param!(PARAMS, density), 1);
/// ```
/// ```compile_fail
/// use meniscus_abi::{Param, param};
/// const PARAMS: &[Param] = &[Param::toggle(c"active", c"Active", true)];
/// let place = param!(PARAMS, activ);
/// ```
#[macro_export]
macro_rules! param {
    ($params:expr, $name:ident) => {
        const { $crate::guest::param_place(&$params, stringify!($name)) }
    };
}

/// Place of a node's port: `call.grid(port!(PORTS, surface), 0)`. A wrong name does not compile.
#[macro_export]
macro_rules! port {
    ($ports:expr, $name:ident) => {
        const { $crate::guest::port_place(&$ports, stringify!($name)) }
    };
}

/// A struct of places of ports, for what several nodes share: its fields are the ports' names, and `of` finds them in a
/// node's list.
///
/// ```
/// use meniscus_abi::{Owner, Port, port, port_places};
/// port_places! {
///     /// What a reader of both needs.
///     struct Both { motion, jet }
/// }
/// const PORTS: &[Port] = &[Port::table(Owner::NODE, c"jet"), Port::table(Owner::OBJECT, c"motion")];
/// const BOTH: Both = Both::of(PORTS);
/// assert_eq!((BOTH.motion, BOTH.jet), (1, 0));
/// assert_eq!(port!(PORTS, jet), 0);
///
/// // Two roles of a coupling may have ports of one name.
/// const fn table(role: u32) -> Port {
///     Port::table(Owner::PARTICIPANT, c"motion").role(role)
/// }
/// const JET: Port = Port::table(Owner::PARTICIPANT, c"jet").role(1);
/// const OF_SECOND: Both = Both::of_role(&[table(0), table(1), JET], 1);
/// assert_eq!((OF_SECOND.motion, OF_SECOND.jet), (1, 2));
///
/// // A solver's objects and those they meet may have ports of one name.
/// const MET: &[Port] = &[Port::table(Owner::SOLVED, c"motion"), Port::table(Owner::AFFECTOR, c"motion"),
///                        Port::table(Owner::AFFECTOR, c"jet")];
/// assert_eq!(Both::of_owner(MET, Owner::AFFECTOR).motion, 1);
///
/// // What objects have, and what the participants keep for themselves.
/// const OWN: Port = Port::table(Owner::MEMBER, c"motion").role(1);
/// const OWN_JET: Port = Port::table(Owner::MEMBER, c"jet").role(1);
/// const OF_MEMBERS: Both = Both::of_members(&[table(1), JET, OWN, OWN_JET], 1);
/// assert_eq!((OF_MEMBERS.motion, OF_MEMBERS.jet), (2, 3));
/// ```
/// ```compile_fail
/// use meniscus_abi::{Owner, Port, port_places};
/// port_places! {
///     /// What a reader of both needs.
///     struct Both { motion, jet }
/// }
/// const PORTS: &[Port] = &[Port::table(Owner::NODE, c"jet")];
/// const BOTH: Both = Both::of(PORTS);
/// println!("{}", BOTH.jet);
/// ```
#[macro_export]
macro_rules! port_places {
    ($(#[$about:meta])* $seen:vis struct $name:ident { $($port:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)] // Each is the place of the port of its name.
        $seen struct $name { $(pub $port: u32),* }

        impl $name {
            /// Where the ports stand in a node's list.
            $seen const fn of(ports: &[$crate::Port]) -> Self {
                Self { $($port: $crate::guest::port_place(ports, stringify!($port))),* }
            }

            /// Where the ports of an owner stand in a node's list.
            #[allow(dead_code)] // Few nodes have ports of one name for two owners.
            $seen const fn of_owner(ports: &[$crate::Port], owner: $crate::Owner) -> Self {
                Self { $($port: $crate::guest::port_place_of_owner(ports, owner, stringify!($port))),* }
            }

            /// Where the ports of the participants of a role stand in a coupling's list.
            #[allow(dead_code)] // Not every plugin is a coupling.
            $seen const fn of_role(ports: &[$crate::Port], role: u32) -> Self {
                Self { $($port: $crate::guest::port_place_of_role(ports, role, stringify!($port))),* }
            }

            /// Where the ports of the members of a role (or of `Role::ANY`) stand in a coupling's list.
            #[allow(dead_code)] // Not every plugin is a coupling.
            $seen const fn of_members(ports: &[$crate::Port], role: u32) -> Self {
                Self { $($port: $crate::guest::port_place_of_members(ports, role, stringify!($port))),* }
            }
        }
    };
}

/// As [`port_places`], for parameters.
#[macro_export]
macro_rules! param_places {
    ($(#[$about:meta])* $seen:vis struct $name:ident { $($param:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)] // Each is the place of the parameter of its name.
        $seen struct $name { $(pub $param: usize),* }

        impl $name {
            /// Where the parameters stand in a node's list.
            $seen const fn of(params: &[$crate::Param]) -> Self {
                Self { $($param: $crate::guest::param_place(params, stringify!($param))),* }
            }
        }
    };
}
