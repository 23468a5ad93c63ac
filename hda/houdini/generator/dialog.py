"""DialogScript, the language of Houdini's parameter interfaces, as Houdini itself lays it out: a keyword a line, four
spaces a level. Its grammar: https://www.sidefx.com/docs/hdk/_h_d_k__h_d_a_intro__dialog_script.html
"""

from dataclasses import dataclass, field


def quoted(text):
    """A string in quotation marks."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


@dataclass(frozen=True)
class Expression:
    """A default that is an expression of HScript."""

    text: str


@dataclass
class Parm:
    """A parameter. `default` has an entry for each component, a text or an Expression."""

    name: str
    label: str
    type: str
    default: list
    size: int = 1
    range: tuple = ()
    menu: list = field(default_factory=list)
    # Lines of Python that give a menu to choose from, beside which anything may be typed.
    menu_script: list = field(default_factory=list)
    help: str = ""
    disable_when: str = ""
    hide_when: str = ""
    join_next: bool = False
    tags: dict = field(default_factory=dict)

    def lines(self):
        """Its block."""
        out = [f"name    {quoted(self.name)}", f"label   {quoted(self.label)}", f"type    {self.type}"]
        if self.join_next:
            out.append("joinnext")
        if self.size > 1:
            out.append(f"size    {self.size}")
        out.append(f"default {{ {' '.join(map(value, self.default))} }}")
        if self.help:
            out.append(f"help    {quoted(self.help)}")
        out += conditions(self)
        if self.range:
            out.append(f"range   {{ {self.range[0]} {self.range[1]} }}")
        if self.menu:
            out += ["menu {", *(f"    {quoted(token)} {quoted(label)}" for token, label in self.menu), "}"]
        if self.menu_script:
            out += ["menureplace {", *(f"    [ {quoted(line)} ]" for line in self.menu_script)]
            out += ["    language python", "}"]
        out += [f"parmtag {{ {quoted(key)} {quoted(text)} }}" for key, text in sorted(self.tags.items())]
        return block("parm", out)


@dataclass
class Group:
    """A folder: `group` is a tab, `groupsimple` an outline, `groupcollapsible` one that closes."""

    kind: str
    name: str
    label: str
    members: list
    hide_when: str = ""

    def lines(self):
        """Its block."""
        out = [f"name    {quoted(self.name)}", f"label   {quoted(self.label)}", *conditions(self)]
        return block(self.kind, out + [""] + inside(self.members))


@dataclass
class Multi:
    """A list of groups of parameters; names of members hold a `#` for the number, from 1."""

    name: str
    label: str
    members: list
    default: int
    help: str = ""

    def lines(self):
        """Its block."""
        out = [f"name    {quoted(self.name)}", f"label   {quoted(self.label)}", f"default {self.default}"]
        if self.help:
            out.append(f"help    {quoted(self.help)}")
        return block("multiparm", out + [""] + inside(self.members))


def value(default):
    """A component of a default."""
    return f"[ {quoted(default.text)} hscript ]" if isinstance(default, Expression) else quoted(default)


def conditions(of):
    """When it is grey, and when it is not there."""
    disable, hide = getattr(of, "disable_when", ""), of.hide_when
    return [f"{key} {quoted(text)}" for key, text in (("disablewhen", disable), ("hidewhen", hide)) if text]


def inside(members):
    """The blocks of members, one after the other."""
    return [line for member in members for line in member.lines()]


def block(keyword, lines):
    """A block in braces; what is in it is moved in by four spaces."""
    return [f"{keyword} {{", *("    " + line if line else "" for line in lines), "}"]


def script(operator, label, inputs, members):
    """The whole text for an operator."""
    head = [f"name\t{operator}", f"script\t{operator}", f"label\t{quoted(label)}", ""]
    head += ["help {", '\t""', "}", ""]
    if inputs:
        head += [*(f"inputlabel\t{at + 1}\t{quoted(text)}" for at, text in enumerate(inputs)), ""]
    whole = ["{", *("    " + line if line else "" for line in head + inside(members)), "}"]
    return f"# Dialog script for {operator} automatically generated\n\n" + "\n".join(whole) + "\n"
