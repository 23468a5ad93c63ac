"""Reads DialogScript by its documented grammar (https://www.sidefx.com/docs/hdk/_h_d_k__h_d_a_intro__dialog_script.html),
more strictly than Houdini: what it does not know is refused.
"""

import re
from dataclasses import dataclass, field

FOLDERS = {"group", "groupsimple", "groupcollapsible", "groupradio"}
# Type: components it may have.
TYPES = {
    "float": {1},
    "integer": {1},
    "toggle": {1},
    "ordinal": {1},
    "string": {1},
    "file": {1},
    "directory": {1},
    "oppath": {1},
    "button": {1},
    "vector2": {2},
    "vector": {3},
    "intvector2": {2},
    "intvector": {3},
}
NUMBERS = {"float", "integer", "vector2", "vector", "intvector2", "intvector"}
FLAGS = {"joinnext", "nolabel", "invisible"}
TOKEN = re.compile(r'\s+|#[^\n]*|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<mark>[{}\[\]])|(?P<word>[^\s{}\[\]"#]+)')


class Wrong(Exception):
    """What is wrong with a script."""


@dataclass
class Expression:
    """A default that is an expression."""

    text: str
    language: str


@dataclass
class Item:
    """A parameter, a folder or a list: its keyword, its properties, what is in it."""

    keyword: str
    properties: dict = field(default_factory=dict)
    tags: dict = field(default_factory=dict)
    members: list = field(default_factory=list)

    def __getattr__(self, name):
        return self.properties.get(name)


def read(text):
    """The properties of the operator and its items. Raises Wrong."""
    tokens, at = [], 0
    # A `#` inside of a name is no comment, and no name begins with one.
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise Wrong(f"cannot read: {text[at : at + 40]!r}")
        at = found.end()
        if found.lastgroup:
            tokens.append((found.lastgroup, found.group(found.lastgroup)))
    reader = Reader(tokens)
    reader.mark("{")
    operator = Item("operator")
    reader.into(operator)
    if reader.at != len(tokens):
        raise Wrong("something stands behind the last brace")
    check(operator)
    return operator


class Reader:
    """Walks along the tokens."""

    def __init__(self, tokens):
        self.tokens, self.at = tokens, 0

    def next(self):
        """The next token: its kind and its text."""
        if self.at == len(self.tokens):
            raise Wrong("it ends within a block")
        self.at += 1
        return self.tokens[self.at - 1]

    def mark(self, wanted):
        """A brace or bracket that must stand here."""
        if self.next() != ("mark", wanted):
            raise Wrong(f"expected {wanted} before {self.tokens[self.at : self.at + 3]}")

    def text(self):
        """A word or a string, without quotation marks."""
        kind, token = self.next()
        if kind == "mark":
            raise Wrong(f"expected a text, found {token}")
        return unquoted(token) if kind == "string" else token

    def listed(self):
        """Texts and expressions in braces."""
        self.mark("{")
        out = []
        while self.tokens[self.at] != ("mark", "}"):
            if self.tokens[self.at] == ("mark", "["):
                self.mark("[")
                words = [self.text()]
                while self.tokens[self.at] != ("mark", "]"):
                    words.append(self.text())
                self.mark("]")
                out.append(Expression(words[0], words[1] if len(words) > 1 else ""))
            else:
                out.append(self.text())
        self.mark("}")
        return out

    def into(self, item):
        """The rest of a block, to its brace."""
        while self.tokens[self.at : self.at + 1] != [("mark", "}")]:
            keyword = self.text()
            if keyword in FOLDERS or keyword in ("parm", "multiparm"):
                self.mark("{")
                member = Item(keyword)
                self.into(member)
                item.members.append(member)
            elif keyword in FLAGS:
                item.properties[keyword] = True
            elif keyword == "inputlabel":
                item.properties.setdefault("inputlabel", {})[self.text()] = self.text()
            elif keyword in ("parmtag", "grouptag"):
                key, value = self.listed()
                if key in item.tags:
                    raise Wrong(f"{item.name}: the tag {key} stands twice")
                item.tags[key] = value
            elif keyword in ("default", "range", "menu", "menureplace") or (
                keyword == "help" and item.keyword == "operator"
            ):
                many = self.tokens[self.at] == ("mark", "{")
                self.put(item, keyword, self.listed() if many else self.text())
            elif keyword in ("name", "script", "label", "type", "size", "help", "disablewhen", "hidewhen"):
                self.put(item, keyword, self.text())
            else:
                raise Wrong(f"{item.name}: unknown keyword {keyword}")
        self.mark("}")

    def put(self, item, keyword, value):
        """A property, once."""
        if keyword in item.properties:
            raise Wrong(f"{item.name}: {keyword} stands twice")
        item.properties[keyword] = value


def unquoted(token):
    """A string's text."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found.group(1), found.group(1)), token[1:-1])


def walk(item, inside=False):
    """All items below one, and whether each is inside of a list."""
    for member in item.members:
        yield member, inside
        yield from walk(member, inside or member.keyword == "multiparm")


def check(operator):
    """Names, types, defaults, ranges, menus and conditions."""
    items = list(walk(operator))
    names = [item.name for item, _ in items]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise Wrong(f"these names stand twice: {sorted(twice)}")
    parms = {name for item, _ in items if item.keyword != "group" for name in [item.name]}
    for item, inside in items:
        check_name(item, inside)
        for condition in (item.disablewhen, item.hidewhen):
            check_condition(item.name, condition, parms)
        if item.keyword == "parm":
            check_parm(item)


def check_name(item, inside):
    """A name is a variable's; in a list it holds the place of the number."""
    if not item.label or not item.name or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*#?", item.name):
        raise Wrong(f"{item.name}: no name or label that can be used")
    if item.name.endswith("#") != inside:
        raise Wrong(f"{item.name}: names in lists end in #, others do not")
    if inside and re.search(r"\d#$", item.name):
        raise Wrong(f"{item.name}: a digit before the number makes two numbers one")


def check_condition(name, condition, parms):
    """`{ a == 1 b != x } { c == "" }` with parameters that there are."""
    for group in re.findall(r"\{([^{}]*)\}", condition or ""):
        terms = re.findall(r'([\w#]+)\s*(==|!=|<=|>=|<|>)\s*("[^"]*"|[\w.-]+)', group)
        if not terms or " ".join(" ".join(term) for term in terms) != " ".join(group.split()):
            raise Wrong(f"{name}: cannot read the condition {group!r}")
        unknown = [term[0] for term in terms if term[0] not in parms]
        if unknown:
            raise Wrong(f"{name}: its condition names {unknown}, which are no parameters")
    if condition and not re.fullmatch(r"(\s*\{[^{}]*\}\s*)+", condition):
        raise Wrong(f"{name}: a condition stands in braces: {condition}")


def check_parm(parm):
    """Type, components, default, range and menu fit each other."""
    if parm.type not in TYPES:
        raise Wrong(f"{parm.name}: unknown type {parm.type}")
    size = int(parm.size or 1)
    if size not in TYPES[parm.type]:
        raise Wrong(f"{parm.name}: a {parm.type} has not {size} components")
    if not isinstance(parm.default, list) or len(parm.default) != size:
        raise Wrong(f"{parm.name}: {size} components, but the default is {parm.default}")
    constant = [value for value in parm.default if not isinstance(value, Expression)]
    if parm.type in NUMBERS | {"toggle", "ordinal"}:
        [float(value) for value in constant]
    if parm.type == "ordinal":
        menu = parm.menu or []
        if len(menu) < 2 or len(menu) % 2 or not 0 <= int(constant[0]) < len(menu) // 2:
            raise Wrong(f"{parm.name}: its menu does not fit its default")
        if len(set(menu[::2])) * 2 != len(menu):
            raise Wrong(f"{parm.name}: a token of its menu stands twice")
    if parm.range:
        check_range(parm, [float(value) for value in constant])


def check_range(parm, default):
    """Two ends, `!` behind one that may not be passed; the default lies between hard ends."""
    if parm.type not in NUMBERS or len(parm.range) != 2:
        raise Wrong(f"{parm.name}: a range has two ends and belongs to numbers")
    low, high = (float(end.removesuffix("!")) for end in parm.range)
    if low >= high:
        raise Wrong(f"{parm.name}: the range {parm.range} is upside down")
    for value in default:
        if parm.range[0].endswith("!") and value < low or parm.range[1].endswith("!") and value > high:
            raise Wrong(f"{parm.name}: the default {value} lies beyond {parm.range}")
