# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects of a scene take part, and as what."""

import dataclasses

from .descriptors import Trouble

# Roles of a collection whose meshes make up one node together; in other roles each object is a node.
_TOGETHER = ("LIQUID", "SOURCE", "SINK")


@dataclasses.dataclass
class Cast:
    """What becomes one node: objects of one role, and the object or collection whose settings they have."""

    role: str
    name: str
    objects: list
    owner: object

    @property
    def settings(self):
        return self.owner.meniscus


def casts(context):
    """Everything in the view layer that takes part, but for the domain."""
    owners = _owners(context.scene.collection, None, {})
    found, together = [], {}
    for thing in context.view_layer.objects:
        owner = _owner(thing, owners)
        role = owner.meniscus.role if owner else "NONE"
        if role in ("NONE", "DOMAIN"):
            continue
        if owner is not thing and role in _TOGETHER:
            if owner not in together:
                together[owner] = Cast(role, owner.name, [], owner)
                found.append(together[owner])
            together[owner].objects.append(thing)
        else:
            found.append(Cast(role, thing.name, [thing], owner))
    return found


def domain(context):
    """The object around which the domain lies, or None."""
    found = [thing for thing in context.view_layer.objects if thing.meniscus.role == "DOMAIN"]
    if len(found) > 1:
        raise Trouble(f"`{found[0].name}` and `{found[1].name}` are both the domain: give one of them another role")
    return found[0] if found else None


def role_of(context, thing):
    """The role that an object has, of its own or by its collections."""
    owner = _owner(thing, _owners(context.scene.collection, None, {}))
    return owner.meniscus.role if owner else "NONE"


def _owners(collection, above, found):
    """The collection that gives each collection of a tree its role: itself, else the next one above that has any."""
    owner = collection if collection.meniscus.role != "NONE" else above
    found.setdefault(collection, owner)
    for child in collection.children:
        _owners(child, owner, found)
    return found


def _owner(thing, owners):
    if thing.meniscus.role != "INHERIT":
        return thing
    of_collections = (owners.get(collection) for collection in thing.users_collection)
    return next((owner for owner in of_collections if owner), None)
