"""Digital assets as files: the expanded form that `hotl -t` writes, a folder for a library.

An asset is implemented in Python: it has no network inside, so every file is text.
"""

import os
from dataclasses import dataclass

SHELF = """<?xml version="1.0" encoding="UTF-8"?>
<shelfDocument>
  <tool name="$HDA_DEFAULT_TOOL" label="$HDA_LABEL" icon="$HDA_ICON">
    <toolMenuContext name="viewer">
      <contextNetType>SOP</contextNetType>
    </toolMenuContext>
    <toolMenuContext name="network">
      <contextOpType>$HDA_TABLE_AND_NAME</contextOpType>
    </toolMenuContext>
    <toolSubmenu>Meniscus</toolSubmenu>
    <script scriptType="python"><![CDATA[import soptoolutils

soptoolutils.genericTool(kwargs, '$HDA_NAME')]]></script>
  </tool>
</shelfDocument>
"""

CREATE = """# Automatically generated script
\\set noalias = 1
#
#  Creation script for {operator} operator
#

if ( "$arg1" == "" ) then
    echo This script is intended as a creation script
    exit
endif

# Node $arg1 ({path})
opexprlanguage -s hscript $arg1
"""

OPTIONS = """CheckExternal := 1;
ContentsCompressionType := 1;
ForbidOutsideParms := 1;
GzipContents := 1;
LockContents := 1;
MakeDefault := 1;
ParmsFromVfl := 0;
PrefixDroppedParmLabel := 0;
PrefixDroppedParmName := 0;
SaveCachedCode := 0;
SaveIcon := 1;
SaveSpareParms := 0;
UnlockOnCreate := 0;
UseDSParms := 1;
"""

# PythonModule is a module, not a text.
EXTRA = """{
	"PythonModule/Cursor":{
		"type":"intarray",
		"value":[1,1]
	},
	"PythonModule/IsExpr":{
		"type":"bool",
		"value":false
	},
	"PythonModule/IsPython":{
		"type":"bool",
		"value":true
	},
	"PythonModule/IsScript":{
		"type":"bool",
		"value":true
	},
	"PythonModule/Source":{
		"type":"string",
		"value":""
	}
}
"""

INDEX = """Operator:     {operator}
Label:        {label}
Path:         oplib:/{path}?{path}
Icon:         MISC_python
Table:        Sop
License:      
Extra:        
User:         
Inputs:       0 to {inputs}
Subnet:       false
Python:       true
Empty:        false
Modified:     Thu Jan  1 00:00:00 2026

"""


@dataclass
class Asset:
    """An asset of the SOP context."""

    name: str
    label: str
    version: str
    inputs: list
    dialog: str
    cook: str
    module: str
    help: str

    def operator(self):
        """Name of the node type: namespace, name, version."""
        return f"meniscus::{self.name}::{self.version}"

    def path(self):
        """Table and name, as libraries have them."""
        return f"meniscus::Sop/{self.name}::{self.version}"

    def sections(self):
        """Its files and what is in them, in the order of the list."""
        return {
            "DialogScript": self.dialog,
            "PythonCook": self.cook,
            "TypePropertiesOptions": OPTIONS,
            "Help": self.help,
            "Tools.shelf": SHELF,
            "CreateScript": CREATE.format(operator=self.operator(), path=self.path()),
            "PythonModule": self.module,
            "ExtraFileOptions": EXTRA,
        }


def escaped(name):
    """A name that can be a file's, as Houdini escapes it."""
    return name.replace("_", "__").replace("/", "_1").replace(":", "_8")


def listed(names):
    """`Sections.list`: the name of each file, and of the section in it."""
    return '""\n' + "".join(f"{escaped(name)}\t{name}\n" for name in names)


def files(asset):
    """The files of a library that holds one asset: paths in its folder, and texts."""
    folder = escaped(asset.path())
    sections = asset.sections()
    index = INDEX.format(operator=asset.operator(), label=asset.label, path=asset.path(), inputs=len(asset.inputs))
    out = {
        "Sections.list": listed(["INDEX_SECTION", "houdini.hdalibrary", asset.path()]),
        "INDEX__SECTION": index,
        "houdini.hdalibrary": "",
        os.path.join(folder, "Sections.list"): listed(sections),
    }
    out.update({os.path.join(folder, escaped(name)): text for name, text in sections.items()})
    return out
