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


class Roles:
    """The roles in a view layer, as they are now."""

    def __init__(self, context):
        self._layer = context.view_layer
        # The collection that gives each collection its role: itself, else the next one above that has any.
        self._owners = {}
        self._walk(context.scene.collection, None)

    def _walk(self, collection, above):
        owner = collection if collection.meniscus.role != "NONE" else above
        self._owners.setdefault(collection, owner)
        for child in collection.children:
            self._walk(child, owner)

    def owner(self, thing):
        """What gives an object its role: itself or a collection; None: nothing does."""
        if thing.meniscus.role != "INHERIT":
            return thing
        of_collections = (self._owners.get(collection) for collection in thing.users_collection)
        return next((owner for owner in of_collections if owner), None)

    def of(self, thing):
        owner = self.owner(thing)
        return owner.meniscus.role if owner else "NONE"

    def _things(self):
        self._layer.update()
        return list(self._layer.objects)

    def those(self, *wanted):
        """The objects of some roles."""
        return [thing for thing in self._things() if self.of(thing) in wanted]

    def casts(self):
        """Everything that takes part, but for the domain."""
        found, together = [], {}
        for thing in self._things():
            owner, role = self.owner(thing), self.of(thing)
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

    def domain(self):
        """The object around which the domain lies, or None."""
        found = self.those("DOMAIN")
        if len(found) > 1:
            raise Trouble(f"`{found[0].name}` and `{found[1].name}` are both the domain: give one of them another role")
        return found[0] if found else None
