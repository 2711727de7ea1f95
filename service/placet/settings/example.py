"""The text of `deploy/env.example`: every setting, commented out, with its default."""

import textwrap

from placet.settings.catalogue import describe
from placet.settings.variable import SettingDoc

_WIDTH_CHARS = 100
_HEAD = """\
# Every setting of Placet with its default. Uncomment what you change.
# Made by: python -m placet.settings > deploy/env.example
"""


def env_example() -> str:
    """Render the file: groups, and per setting its meaning, its values, its default, its unit."""
    blocks = [_HEAD]
    group = ""
    for doc in describe():
        if doc.group != group:
            group = doc.group
            blocks.append(f"\n# --- {group} {'-' * (_WIDTH_CHARS - 7 - len(group))}\n")
        blocks.append(_block(doc))
    return "".join(blocks)


def _block(doc: SettingDoc) -> str:
    facts = [f"Values: {doc.allowed}{f', in {doc.unit}' if doc.unit else ''}."]
    if doc.rule:
        facts.append(f"Default: {doc.rule}.")
    words = textwrap.wrap(
        " ".join([doc.meaning, *facts]),
        width=_WIDTH_CHARS,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n" + "\n".join([*words, f"#{doc.name}={doc.default}"]) + "\n"
