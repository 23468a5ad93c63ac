//! Who solves what: the objects and forces of solvers, the participants of couplings.

use super::{CouplingWires, Planner, SolverWires, by_name, contract};
use crate::node::{NodeKind, Role};
use std::collections::BTreeMap;

impl Planner<'_> {
    pub(super) fn wire_solvers(&mut self) {
        let mut solver_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (i, node) in self.network.nodes.iter().enumerate() {
            match node.node_type.kind {
                NodeKind::Object if !node.bypass => self.plan.objects.push(i),
                NodeKind::Solver if !node.bypass => {
                    let medium = &contract(node).medium;
                    let mut wires = SolverWires::default();
                    for &input in node.inputs.iter().filter(|&&j| !self.network.nodes[j].bypass) {
                        let wired = &self.network.nodes[input];
                        match wired.node_type.kind {
                            NodeKind::Force => wires.forces.push(input),
                            _ if contract(wired).medium == *medium => wires.solved.push(input),
                            _ => wires.affectors.push(input),
                        }
                    }
                    for &object in &wires.solved {
                        if let Some(other) = solver_of.insert(object, i) {
                            let (a, b) = (self.network.nodes[other].name.clone(), node.name.clone());
                            self.complain(
                                object,
                                format!("is solved by both `{a}` and `{b}`; one solver moves an object"),
                            );
                        }
                    }
                    if wires.solved.is_empty() && !node.inputs.iter().any(|&j| self.network.nodes[j].bypass) {
                        self.complain(
                            i,
                            format!(
                                "no object of medium `{medium}` is wired into it: nothing to solve{}",
                                self.of_medium(medium)
                            ),
                        );
                    }
                    self.plan.solvers.insert(i, wires);
                }
                _ => {}
            }
        }
    }

    pub(super) fn wire_couplings(&mut self) {
        for i in 0..self.network.nodes.len() {
            let node = self.node(i);
            if node.node_type.kind != NodeKind::Coupling || node.bypass {
                continue;
            }
            let roles = &self.contract(i).roles;
            let members: Vec<usize> = node.inputs.iter().flat_map(|&j| self.participants(j)).collect();
            let mut wires = CouplingWires { roles: vec![Vec::new(); roles.len()], ..Default::default() };
            for member in members {
                let played = self.played(member, roles, &wires);
                if played.is_none() {
                    let wanted = |r: &Role| match (r.medium.as_str(), r.max_count) {
                        ("", None) => "any other".into(),
                        ("", Some(1)) => "any other (one solver or coupling)".into(),
                        ("", Some(most)) => format!("any other ({most} solvers or couplings at most)"),
                        (medium, Some(1)) => format!("`{medium}` (one solver or coupling)"),
                        (medium, Some(most)) => format!("`{medium}` ({most} solvers or couplings at most)"),
                        (medium, None) => format!("`{medium}`"),
                    };
                    let mut wanted: Vec<String> = roles.iter().map(wanted).collect();
                    if wanted.is_empty() {
                        wanted.push("nothing".into());
                    }
                    let media: Vec<&str> = self.media(member).into_iter().collect();
                    let (name, media, wanted) =
                        (&self.node(member).name, media.join(", "), wanted.join(", "));
                    let message =
                        format!("has no place for `{name}` of medium `{media}`; it couples {wanted}");
                    self.complain(i, message);
                }
                played.into_iter().flatten().for_each(|r| wires.roles[r].push(member));
            }
            wires.roles.iter_mut().for_each(|members| members.sort_by_key(|&m| self.rank(m)));
            wires.objects = roles.iter().zip(&wires.roles).map(|(r, m)| self.playing(r, roles, m)).collect();
            wires.members = roles.iter().zip(&wires.roles).map(|(r, m)| self.members(r, roles, m)).collect();
            self.check_counts(i, roles, &wires);
            self.plan.couplings.insert(i, wires);
        }
    }

    /// The participants behind an input: a bypassed coupling lets its own participants through.
    fn participants(&self, i: usize) -> Vec<usize> {
        let node = self.node(i);
        match (node.node_type.kind, node.bypass) {
            (NodeKind::Coupling, true) => node.inputs.iter().flat_map(|&j| self.participants(j)).collect(),
            (_, true) => Vec::new(),
            _ => vec![i],
        }
    }

    /// The roles that a participant plays: of each of its media the first role of that medium with room for it; of media that
    /// no role names, the first that takes any. `None` where one of its media finds no place.
    fn played(&self, member: usize, roles: &[Role], wires: &CouplingWires) -> Option<Vec<usize>> {
        let has_room = |r: usize| roles[r].max_count.is_none_or(|most| wires.roles[r].len() < most);
        let of = |medium: &str| {
            let wanted = if is_named(roles, medium) { medium } else { "" };
            (0..roles.len()).find(|&r| roles[r].medium == wanted && has_room(r))
        };
        let mut played: Vec<usize> = self.media(member).into_iter().map(of).collect::<Option<_>>()?;
        played.sort_unstable();
        played.dedup();
        Some(played)
    }

    /// The objects that members of a role bring to it, in the order of their names.
    fn playing(&self, role: &Role, roles: &[Role], members: &[usize]) -> Vec<usize> {
        let solved = members.iter().flat_map(|&m| self.plan.solved_by(m));
        let fits = |&o: &usize| is_for(role, roles, &contract(self.node(o)).medium);
        by_name(self.network, solved.filter(fits).collect())
    }

    /// Members of a role, and whoever among their own participants is of its medium, in the order of their names.
    fn members(&self, role: &Role, roles: &[Role], direct: &[usize]) -> Vec<usize> {
        let inner = |m: &usize| self.plan.couplings.get(m).map(|c| c.members_of(None)).unwrap_or_default();
        let fits = |m: &usize| self.media(*m).iter().any(|medium| is_for(role, roles, medium));
        let mut all: Vec<usize> = direct.iter().flat_map(inner).filter(fits).chain(direct.to_vec()).collect();
        all.sort_unstable();
        all.dedup();
        by_name(self.network, all)
    }

    fn check_counts(&mut self, coupling: usize, roles: &[Role], wires: &CouplingWires) {
        let name = |i: usize| format!("`{}`", self.node(i).name);
        let mut complaints = Vec::new();
        let mut role_of: BTreeMap<usize, &str> = BTreeMap::new();
        for ((role, members), objects) in roles.iter().zip(&wires.roles).zip(&wires.objects) {
            for &object in objects {
                if let Some(other) = role_of.insert(object, &role.name) {
                    let object = name(object);
                    complaints.push(match other == role.name {
                        true => format!("couples {object} twice; wire its solver in once"),
                        false => format!("couples {object} in two roles, `{other}` and `{}`", role.name),
                    });
                }
            }
            if let Some(most) = role.max_objects.filter(|&most| objects.len() > most) {
                let names = objects.iter().map(|&o| name(o)).collect::<Vec<_>>().join(", ");
                let few = if most == 1 { "one object".into() } else { format!("{most} objects") };
                complaints.push(format!(
                    "couples at most {few} in the role `{}`, found {}: {names}; wire the others out, or into a solver \
                     that is not coupled",
                    role.name,
                    objects.len()
                ));
            }
            if members.len() < role.min_count {
                let (found, least) = (members.len(), role.min_count);
                complaints.push(format!("needs at least {least} in the role `{}`, found {found}", role.name));
            }
        }
        complaints.into_iter().for_each(|c| self.complain(coupling, c));
    }
}

/// Whether objects of a medium play that role among all of a coupling.
fn is_for(role: &Role, roles: &[Role], medium: &str) -> bool {
    if role.medium.is_empty() { !is_named(roles, medium) } else { medium == role.medium }
}

/// Whether a role is for that medium alone.
fn is_named(roles: &[Role], medium: &str) -> bool {
    !medium.is_empty() && roles.iter().any(|r| r.medium == medium)
}
