"""Links and anchors of Markdown pages, with the same anchors as on GitHub."""
import re
import unicodedata

import page

LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$", re.MULTILINE)
IDENTIFIER = re.compile(r"<a (?:id|name)=\"([^\"]+)\">")


def pages(root):
    """Returns (path, text) of each page of the checkout."""
    return [(root / name, (root / name).read_text(encoding="utf-8")) for name in page.tracked(root) if name.endswith(".md")]


def without_code(text):
    return re.sub(r"^```.*?^```[ ]*$", "", text, flags=re.MULTILINE | re.DOTALL)


def links(text):
    """Returns (path, anchor) of each relative link; the path of a link within the page is empty."""
    return [(path, anchor) for path, anchor in LINK.findall(re.sub(r"`[^`\n]*`", "", without_code(text))) if path or anchor]


def anchor(heading):
    """Anchor of a heading: letters, digits and underscores in lower case, hyphens for blanks; a link is represented by its text."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    kept = (one for one in text if one in " -" or unicodedata.category(one)[0] in "LM" or unicodedata.category(one) in ("Nd", "Pc"))
    return "".join(kept).replace(" ", "-")


def anchors(text):
    """Anchors of the headings, of which repeated ones end in a number, and of <a id> elements."""
    found = set(IDENTIFIER.findall(text))
    for heading in HEADING.findall(without_code(text)):
        name, number = anchor(heading), 0
        while name in found:
            number += 1
            name = f"{anchor(heading)}-{number}"
        found.add(name)
    return found
