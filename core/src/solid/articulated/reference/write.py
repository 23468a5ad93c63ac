"""Writes mujoco.txt and pinocchio.txt: mass matrices and bias forces of random trees, which tests.rs holds ours against.

    python3 -m venv venv && venv/bin/pip install mujoco==4.0.0 pin==4.1.0 && venv/bin/python write.py

Velocities are ours: of a free joint, linear in the axes of the ground and angular in those of the link; of a ball joint,
angular in those of the link. MuJoCo's are the same. Pinocchio's free joint has both in the axes of the link, so that
M = T' M_pin T and bias = T' rnea(q, T v, d(T)/dt v).
"""

import numpy as np
import mujoco
import pinocchio as pin

GRAVITY = np.array([0.3, -9.81, 1.1])
SIZES = {"fixed": (0, 0), "ball": (4, 3), "revolute": (1, 1), "prismatic": (1, 1), "free": (7, 6)}


def unit(rng, n):
    v = rng.normal(size=n)
    return v / np.linalg.norm(v)


def turn(q):
    return pin.Quaternion(q[3], q[0], q[1], q[2]).toRotationMatrix()


def tree(rng, count, root):
    """Links, each behind its parent, depth first."""
    links = []
    for n in range(count):
        line = [n - 1]
        while line[-1] >= 0:
            line.append(links[line[-1]]["parent"])
        parent = line[rng.integers(len(line) - 1)] if n else -1
        kind = root if n == 0 else ["fixed", "ball", "revolute", "prismatic"][rng.integers(4)]
        free = kind == "free"
        sides = rng.uniform(0.1, 0.8, 3) ** 2
        mass = rng.uniform(0.2, 9.0)
        axes = turn(unit(rng, 4))
        moments = mass / 12 * np.array([sides[1] + sides[2], sides[0] + sides[2], sides[0] + sides[1]])
        inertia = axes @ np.diag(moments) @ axes.T
        links.append({
            "parent": parent, "kind": kind, "axis": unit(rng, 3),
            "at": np.zeros(3) if free else rng.uniform(-0.7, 0.7, 3),
            "turn": np.array([0, 0, 0, 1.0]) if free else unit(rng, 4),
            "mass": mass, "centre": rng.uniform(-0.4, 0.4, 3), "inertia": 0.5 * (inertia + inertia.T),
        })
    return links


def state(rng, links):
    q, v = [], []
    for link in links:
        kind = link["kind"]
        if kind == "free":
            q += list(rng.uniform(-2, 2, 3)) + list(unit(rng, 4))
        elif kind == "ball":
            q += list(unit(rng, 4))
        elif kind != "fixed":
            q += [rng.uniform(-2, 2)]
        v += list(rng.uniform(-3, 3, SIZES[kind][1]))
    return np.array(q), np.array(v)


def places(links):
    """First coordinate and first velocity of each link."""
    q = np.cumsum([0] + [SIZES[link["kind"]][0] for link in links])
    v = np.cumsum([0] + [SIZES[link["kind"]][1] for link in links])
    return q, v


def wxyz(q):
    return np.array([q[3], q[0], q[1], q[2]])


def text(v):
    return " ".join(repr(float(x)) for x in np.ravel(v))


def by_mujoco(links, q, v):
    def body(n):
        link = links[n]
        i = link["inertia"]
        joint = {
            "fixed": "", "free": f"<freejoint name='j{n}'/>", "ball": f"<joint name='j{n}' type='ball'/>",
            "revolute": f"<joint name='j{n}' type='hinge' axis='{text(link['axis'])}'/>",
            "prismatic": f"<joint name='j{n}' type='slide' axis='{text(link['axis'])}'/>",
        }[link["kind"]]
        inside = "".join(body(m) for m in range(len(links)) if links[m]["parent"] == n)
        full = text([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])
        return (f"<body pos='{text(link['at'])}' quat='{text(wxyz(link['turn']))}'>{joint}"
                f"<inertial pos='{text(link['centre'])}' mass='{link['mass']!r}' fullinertia='{full}'/>{inside}</body>")
    roots = "".join(body(m) for m in range(len(links)) if links[m]["parent"] < 0)
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><compiler angle='radian'/><option gravity='{text(GRAVITY)}'/><worldbody>{roots}</worldbody></mujoco>")
    assert not model.dof_armature.any() and not model.dof_damping.any()
    data = mujoco.MjData(model)
    first_q, first_v = places(links)
    dofs = np.zeros(model.nv, dtype=int)
    for n, link in enumerate(links):
        kind = link["kind"]
        if kind == "fixed":
            continue
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, f"j{n}")
        a, b = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        own = q[first_q[n]:first_q[n + 1]]
        if kind == "free":
            own = np.concatenate([own[:3], wxyz(own[3:])])
        if kind == "ball":
            own = wxyz(own)
        count = SIZES[kind][1]
        data.qpos[a:a + len(own)] = own
        data.qvel[b:b + count] = v[first_v[n]:first_v[n + 1]]
        dofs[first_v[n]:first_v[n + 1]] = np.arange(b, b + count)
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, mass)
    except TypeError:
        mujoco.mj_fullM(model, mass, data.qM)
    return mass[np.ix_(dofs, dofs)], data.qfrc_bias[dofs]


def by_pinocchio(links, q, v):
    model = pin.Model()
    model.gravity = pin.Motion(GRAVITY, np.zeros(3))
    joints, places_of = [], []
    for n, link in enumerate(links):
        parent, offset = (0, pin.SE3.Identity()) if link["parent"] < 0 else (joints[link["parent"]], places_of[link["parent"]])
        at = offset * pin.SE3(turn(link["turn"]), link["at"])
        inertia = pin.Inertia(link["mass"], link["centre"], link["inertia"])
        kind = link["kind"]
        if kind == "fixed":
            joints.append(parent)
            places_of.append(at)
            model.appendBodyToJoint(parent, inertia, at)
            continue
        made = {"free": lambda: pin.JointModelFreeFlyer(), "ball": lambda: pin.JointModelSpherical(),
                "revolute": lambda: pin.JointModelRevoluteUnaligned(link["axis"]),
                "prismatic": lambda: pin.JointModelPrismaticUnaligned(link["axis"])}[kind]()
        joints.append(model.addJoint(parent, made, at, f"j{n}"))
        places_of.append(pin.SE3.Identity())
        model.appendBodyToJoint(joints[-1], inertia, pin.SE3.Identity())
    data = model.createData()
    theirs, rate = np.eye(len(v)), np.zeros(len(v))
    if links[0]["kind"] == "free":
        back = turn(q[3:7]).T
        theirs[:3, :3] = back
        rate[:3] = -np.cross(v[3:6], back @ v[:3])
    mass = pin.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    bias = pin.rnea(model, data, q, theirs @ v, rate)
    return theirs.T @ mass @ theirs, theirs.T @ bias


def write(name, version, solve):
    rng = np.random.default_rng(17)
    with open(name, "w") as out:
        out.write(f"# by write.py with {version}; gravity {text(GRAVITY)}\n")
        for count, root in [(1, "free"), (1, "ball"), (4, "revolute"), (6, "free"), (9, "prismatic"), (12, "free")]:
            links = tree(rng, count, root)
            for _ in range(2):
                q, v = state(rng, links)
                mass, bias = solve(links, q, v)
                out.write(f"tree {count}\n")
                for link in links:
                    numbers = [*link["axis"], *link["at"], *link["turn"], link["mass"], *link["centre"], *link["inertia"].ravel()]
                    out.write(f"{link['parent']} {link['kind']} {text(numbers)}\n")
                for row in (q, v, mass, bias):
                    out.write(text(row) + "\n")


write("mujoco.txt", f"MuJoCo {mujoco.__version__}", by_mujoco)
write("pinocchio.txt", f"Pinocchio {pin.__version__}", by_pinocchio)
