"""The TOP node Meniscus Wedge: a work item for every variant, and one that puts table and sheet together.

PDG imports this file where `pdg/types` is on its search path.
"""

import json

import pdg
from meniscus_houdini import wedge
from pdg.processor import PyProcessor


class MeniscusWedge(PyProcessor):
    """Makes the work items; commands run where the scheduler runs them, so `out` lies on a disk that all share."""

    @classmethod
    def templateName(cls):
        """Name of the node type."""
        return "meniscuswedge"

    @classmethod
    def templateBody(cls):
        """Parameters of the node."""
        texts = {
            "graph": "Graph File",
            "out": "Output Folder",
            "vary": "Vary (node.param=a,b,c; one a line)",
            "program": "Program",
            "device": "Device (auto, cpu, cuda)",
        }
        parms = [{"name": name, "label": label, "type": "String", "size": 1} for name, label in texts.items()]
        parms.append({"name": "threads", "label": "Threads (0: all)", "type": "Integer", "size": 1})
        return json.dumps({"name": cls.templateName(), "parameters": parms})

    def onGenerate(self, item_holder, upstream_items, generation_type):
        """A work item for every variant, and the one of the sheet, which comes last."""

        def text(name):
            return self[name].evaluateString()

        vary = [tuple(line.strip().split("=", 1)) for line in text("vary").splitlines() if "=" in line]
        if not vary:
            raise ValueError("Meniscus Wedge: there is nothing to vary; write node.param=a,b,c into Vary")
        device = text("device") or "auto"
        cooks, sheet = wedge.commands(
            text("graph"), text("out"), vary, text("program"), device, self["threads"].evaluateInt()
        )
        for number, command in enumerate(cooks, 1):
            item = item_holder.addWorkItem(index=number)
            item.setIntAttrib("variant", number)
            item.setCommand(command)
        item_holder.addWorkItem(index=len(cooks) + 1).setCommand(sheet)
        return pdg.result.Success

    def onAddInternalDependencies(self, dependency_holder, internal_items, is_static):
        """The sheet waits for all variants."""
        items = sorted(internal_items, key=lambda item: item.index)
        for item in items[:-1]:
            dependency_holder.addDependency(items[-1], item)
        return pdg.result.Success


def registerTypes(type_registry):
    """Called by PDG."""
    name = MeniscusWedge.templateName()
    type_registry.registerNode(
        MeniscusWedge, pdg.nodeType.Processor, name=name, label="Meniscus Wedge", category="Meniscus"
    )
