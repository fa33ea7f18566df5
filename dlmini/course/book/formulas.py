r"""A formula in TeX becomes MathML, which browsers draw by themselves, on paper too.

latex2mathml translates; browsers know only MathML Core, so `mended` says the rest in its words: boxes, letters of other
alphabets, fences and the thin space around `log`. What stands alone is cut at \qquad: there a line may break.
"""

from __future__ import annotations

import re
import unicodedata
from xml.etree import ElementTree as Tree

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
THIN = "0.167em"
FENCES = set("|⌈⌉⌊⌋⟨⟩")
TIGHT = FENCES | set("()[]{}∂∇∞")  # nothing stands between them and their neighbours
SIGNS, BEFORE_SIGN = set("−+±"), set("=(,[{:∈≈≤<←⟨")  # a sign after one of these belongs to what follows
OPERATORS = FENCES | set("±∼⟹:;")  # latex2mathml calls some of them letters
FUNCTIONS = {"log", "ln", "exp", "cos", "sin", "max", "min", "tr", "Var", "round"}
ROWS = ("math", "mrow", "mstyle", "msqrt", "mtd")  # what holds any number of things side by side
PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
ALPHABETS = {"double-struck": "DOUBLE-STRUCK", "bold": "BOLD", "sans-serif": "SANS-SERIF", "script": "SCRIPT"}
UPRIGHT = re.compile(r"\\mathrm\s*(?:\{(\w)\}|(\w))")  # of one letter latex2mathml forgets that it is upright
LARGE = [(re.compile(r"\\[bB]ig(?=[(\[])"), r"\left"), (re.compile(r"\\[bB]ig(?=[)\]])"), r"\right")]
OPENS, CLOSES = re.compile(r"\{|\\left\b|\\begin\b"), re.compile(r"\}|\\right\b|\\end\b")


def inline(tex: str) -> str:
    """A formula within a sentence."""
    return mathml(tex, "inline")


def alone(tex: str) -> str:
    """A formula on lines of its own: its parts side by side where there is room, else below one another."""
    return "".join(mathml(part, "block") for part in parts(tex))


def parts(tex: str) -> list[str]:
    r"""The formula, cut at every \qquad that stands in no bracket."""
    found = [""]
    for piece in re.split(r"(\\qquad\b)", tex):
        open_ = len(OPENS.findall(found[-1])) - len(CLOSES.findall(found[-1]))
        if piece == r"\qquad" and not open_:
            found.append("")
        else:
            found[-1] += piece
    return [part.strip() for part in found if part.strip()]


def mathml(tex: str, display: str) -> str:
    """One <math>; the TeX stays in it as its spoken name."""
    root = translated(tex, display)
    mended(root, display)
    Tree.register_namespace("", NAMESPACE)
    root.set("aria-label", " ".join(tex.split()))
    return Tree.tostring(root, encoding="unicode")


def translated(tex: str, display: str):
    """What latex2mathml makes of it; a sentence where that is less than a formula, which it does not say itself."""
    from latex2mathml.converter import convert

    where = f"the formula ${tex.strip()}$"
    try:
        root = Tree.fromstring(convert(plainer(tex), display=display))
    except Exception as error:  # its exceptions have no common parent
        raise ValueError(f"{where} cannot be read: {str(error) or type(error).__name__}") from error
    for node in root.iter():
        if (node.text or "").startswith("\\"):
            raise ValueError(f"{where} has a command that is not known: {node.text}")
        if len(node) != PARTS.get(node.tag.removeprefix(f"{{{NAMESPACE}}}"), len(node)):
            raise ValueError(f"{where} lacks a part of a fraction, an index or an exponent")
    return root


def plainer(tex: str) -> str:
    """The same in TeX that latex2mathml translates well: brackets that grow by themselves carry exponents."""
    tex = UPRIGHT.sub(r"\\text{\1\2}", tex).replace(":=", r"\coloneqq ")
    for large, grown in LARGE:
        tex = large.sub(lambda _, grown=grown: grown, tex)
    return tex


def mended(root, display: str) -> None:
    """The same formula in the words that Chromium and Firefox both know."""
    for node in list(root.iter()):
        name = node.tag.removeprefix(f"{{{NAMESPACE}}}")
        if name == "menclose":
            node.tag, node.attrib = tag("mrow"), {"class": "boxed"}
        elif name == "mtd" and node.attrib.pop("columnalign", "") == "left":
            node.set("style", "text-align: left")
        elif name in ("mi", "mn", "mo"):
            mend_letter(node)
        elif name == "msub" and display == "block" and node[0].text in ("max", "min"):
            node.tag = tag("munder")
        elif name == "mover":
            mend_accent(node)
    for row in [node for node in root.iter() if node.tag in map(tag, ROWS)]:
        set_apart(row)


def mend_letter(node) -> None:
    """An operator is <mo>, a letter of another alphabet is that letter."""
    inner = "".join(node.itertext())
    for child in list(node):
        node.remove(child)
    node.text = inner.replace("~", "∼")
    if node.text in OPERATORS or node.text in FUNCTIONS:
        node.tag = tag("mi" if node.text in FUNCTIONS else "mo")
    if node.text in TIGHT or node.text == "/":
        space = "0.06em" if node.text == "/" else "0"  # else it would touch slanted letters
        node.attrib.update(lspace=space, rspace=space)
    if node.text in FENCES and not {"form", "minsize"} & set(node.attrib):
        node.set("stretchy", "false")
    if node.get("mathvariant") in ALPHABETS:
        node.text = "".join(letter(c, ALPHABETS[node.attrib["mathvariant"]]) for c in node.text)
        node.set("mathvariant", "normal")


def mend_accent(node) -> None:
    """A hat is as wide as a letter; a bar is a line above what it covers."""
    if node[1].text in ("¯", "―"):
        node.remove(node[1])
        node.tag, node.attrib = tag("mrow"), {"class": "bar"}
    else:
        node[1].set("stretchy", "false")


def letter(c: str, alphabet: str) -> str:
    """`E` of the double-struck alphabet; the character itself where it has no such form."""
    kind = {"Lu": "CAPITAL ", "Ll": "SMALL ", "Nd": "DIGIT "}.get(unicodedata.category(c), "")
    for name in (f"MATHEMATICAL {alphabet} ", f"{alphabet} "):
        try:
            return unicodedata.lookup(name + kind + unicodedata.name(c).split()[-1])
        except KeyError:
            continue
    return c


def set_apart(row) -> None:
    """A thin space around the name of a function, except where an operator or a bracket stands; none after a sign."""
    for before, child in zip([None, *row], list(row), strict=False):
        if child.text in SIGNS and child.tag == tag("mo") and (before is None or before.text in BEFORE_SIGN):
            child.attrib.update(form="prefix", lspace="0", rspace="0")
        if not is_function(child):
            continue
        place = list(row).index(child)
        after = row[place + 1] if place + 1 < len(row) else None
        if after is not None and after.tag not in (tag("mo"), tag("mspace")):
            row.insert(place + 1, Tree.Element(tag("mspace"), width=THIN))
        if place and row[place - 1].tag not in (tag("mo"), tag("mspace")):
            row.insert(place, Tree.Element(tag("mspace"), width=THIN))


def is_function(node) -> bool:
    return node.text in FUNCTIONS or (node.tag in map(tag, ("msub", "msup", "munder")) and node[0].text in FUNCTIONS)


def tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"
