"""What to write for a member: what was meant where what stands there tells it, and else an example.

What a message suggests is copied as it is. So a suggestion keeps what its author wrote, a number or a word,
and where nothing can be read from that, it names what there is to choose from: the least value of a setting,
or its first one, may be the loosest.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Final

from placet.domain import durations

_SHOWN_MAX_CHARS: Final = 60
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_DIGITS: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
FLAGS: Final = {
    **dict.fromkeys(("true", "yes", "on", "1"), "true"),
    **dict.fromkeys(("false", "no", "off", "0"), "false"),
}
"""What people write for true and false."""
_VALUES: Final[Mapping[str, str]] = {
    "acr_values": '["phr"]',
    "actor_kind": '["agent"]',
    "after": '"10m"',
    "algorithms": '["ES256"]',
    "aliases": '["ann@example.com"]',
    "api_url": '"https://slack.com/api/"',
    "app": '"A024BE7LA"',
    "approvers": '{ groups = ["treasury"] }',
    "audience": '"placet"',
    "capabilities": '["orders.*"]',
    "channels": '["web"]',
    "client_id": '"placet"',
    "client_secret_file": '"/run/secrets/oidc"',
    "clients": '["shop"]',
    "default": '"30m"',
    "effect": '["external"]',
    "escalate": '{ after = "10m", groups = ["cfo"] }',
    "expires_in": '{ default = "30m" }',
    "groups": '["treasury"]',
    "groups_claim": '"groups"',
    "id": '"ann"',
    "iss": '"https://login.example.com"',
    "issuers": '{ "https://login.example.com" = { audience = "placet" } }',
    "jwks_url": '"https://login.example.com/keys"',
    "label": '"Example login"',
    "least_risk": '"high"',
    "match": '["orders.*"]',
    "max": '"1h"',
    "name": '"refunds"',
    "name_claim": '"name"',
    "oidc": '[{ iss = "https://login.example.com", sub = "00u1a2b3" }]',
    "owns": '["nightly-batch"]',
    "people": '["ann"]',
    "quorum": "2",
    "risk": '["high"]',
    "scopes": '["profile", "email"]',
    "signing_secret_files": '["/run/secrets/slack_signing"]',
    "sign_in": '{ name = "example", client_id = "placet" }',
    "slack": '[{ team = "T024BE7LD", user = "U2147483697" }]',
    "sub": '"00u1a2b3"',
    "surfaces": '["direct"]',
    "team": '"T024BE7LD"',
    "tell": '["slack:#treasury"]',
    "tenant": '"default"',
    "tenants": '["default"]',
    "token_file": '"/run/secrets/slack_token"',
    "types": '["bulk"]',
    "use_within": '{ default = "10m" }',
    "user": '"U2147483697"',
    "when": '{ risk = ["high"] }',
}
_VALUES_OF: Final[Mapping[tuple[str, str], str]] = {
    ("a person", "name"): '"Ann Marsh"',
    ("a stricter block", "expires_in"): '{ max = "1h" }',
    ("a stricter block", "use_within"): '{ max = "5m" }',
    ("a Slack app", "channels"): '{ treasury = "C024BE7LR" }',
    ("an issuer", "types"): '["at+jwt"]',
    ("the directory file", "slack"): '{ T024BE7LD = { app = "A024BE7LA" } }',
    ("the table sign_in", "name"): '"example"',
    ("the table escalate", "groups"): '["cfo"]',
}
_WAITS: Final = ("expires_in", "use_within")
_BOUNDS: Final = {"a rule": ("default", "max"), "a stricter block": ("max",)}
_NAMED: Final[Mapping[str, str]] = {
    "the table channels": '"C024BE7LR"',
    "the table of Slack apps": '{ app = "A024BE7LA" }',
    "the table of issuers": '{ audience = "placet" }',
}
"""What has a name of the operator's own."""


def example(what: str, member: str) -> str:
    """A member of "a rule", "a person" and so on, with a value that it could have: ``quorum = 2``."""
    value = _NAMED.get(what) or _VALUES_OF.get((what, member)) or _VALUES[member]
    return f"{dotted([member])} = {value}"


def of_whole(member: str, value: object, least: int, most: int) -> str:
    """For what is no whole number, but perhaps one in quotes or with a point."""
    text = str(value).strip().removesuffix(".0")
    number = int(text) if _DIGITS.fullmatch(text) else None
    if number is None or not least <= number <= most:
        return f"write one from {least} to {most}{_unquoted(value)}"
    return f"write {member} = {number}"


def of_flag(member: str, value: object) -> str:
    """For what is neither true nor false, but perhaps says so."""
    word = FLAGS.get(str(value).strip().lower())
    return f"write {member} = {word}" if word else f"write true or false{_unquoted(value)}"


def of_text(what: str, member: str, value: object) -> str:
    """For what is no text, but perhaps would be one in quotes."""
    if type(value) is int:  # True is one to isinstance
        return f'write {member} = "{value}"'
    return f"write it in quotes, as in {example(what, member)}"


def of_texts(what: str, member: str, value: object) -> str:
    """For what is no list, but perhaps belongs into one."""
    if isinstance(value, str) and len(value) <= _SHOWN_MAX_CHARS and value.isprintable():
        items = [item.strip() for item in value.split(",") if item.strip()]
        if items:
            return f"write {member} = [{', '.join(map(quoted, items))}]"
    return f"write it as in {example(what, member)}"


def of_table(what: str, member: str, value: object) -> str:
    """For what is no table, but perhaps belongs into one."""
    bounds = _BOUNDS.get(what) if isinstance(value, str) and _is_duration(value) else None
    if bounds is None or member not in _WAITS:
        return f"write it as in {example(what, member)}"
    return f"write {member} = {{ {', '.join(f'{bound} = {quoted(str(value))}' for bound in bounds)} }}"


def of_words(words: Iterable[str]) -> str:
    """For what is none of these."""
    *first, last = map(quoted, words)
    return f"write {', '.join(first)} or {last}"


def meant(word: str, known: Iterable[str]) -> str:
    """What was probably meant, to end a sentence with; empty where nothing is near."""
    found = nearest(word, known)
    return f"; did you mean {found!r}?" if found else ""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Which of these was probably meant, whatever its case."""
    candidates = {each.lower(): str(each) for each in known}
    near = difflib.get_close_matches(word.lower(), candidates, n=1)
    return candidates[near[0]] if near else None


def _is_duration(text: str) -> bool:
    try:
        durations.read(text)
    except ValueError:
        return False
    return True


def _unquoted(value: object) -> str:
    return ", without quotes" if isinstance(value, str) else ""


def dotted(path: Iterable[str]) -> str:
    """Keys as TOML has them between brackets, or before =."""
    return ".".join(key if _BARE_KEY.fullmatch(key) else quoted(key) for key in path)


def quoted(text: str) -> str:
    """A text as TOML has it in one line."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def shown(text: str) -> str:
    """A text of the file in a message: its beginning, with what could mislead a reader spelled out."""
    return repr(text if len(text) <= _SHOWN_MAX_CHARS else f"{text[:_SHOWN_MAX_CHARS]}…")
