"""Which files of the operator's are in force, so that no two replicas judge under different ones.

1. A generation is the policy file and the directory file, each named by the SHA-256 of its bytes.
2. The files of a process replace those in force when it starts, or is told to read them again.
3. A file with a ``revision`` replaces only one that has none, or a lower one: a replica that comes up late
   with yesterday's file must not bring yesterday back. The same revision never means two contents.
4. No file never replaces a file by itself: a variable forgotten on one replica would open what the file
   keeps shut.
"""

import msgspec
from msgspec import Struct

from placet.domain.canonical import sha256_hex

_VARIABLES = {"policy": "PLACET_POLICY_FILE", "directory": "PLACET_DIRECTORY_FILE"}


class Stamp(Struct, frozen=True, kw_only=True):
    """A file: the SHA-256 of its bytes in lower-case hex, and the number its operator gave it, 0 for none."""

    sha256: str
    revision: int = 0


class Generation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The files that rules and people were read from; ``None`` where there is none."""

    policy: Stamp | None = None
    directory: Stamp | None = None

    @property
    def version(self) -> str:
        """What names both: a SHA-256 over theirs; empty where there are no files."""
        if self == NO_FILES:
            return ""
        return sha256_hex("".join(f"{name} {_hash(stamp)}\n" for name, stamp in self.files()).encode())

    @property
    def text(self) -> str:
        """As the store keeps it; empty where there are no files."""
        return "" if self == NO_FILES else msgspec.json.encode(self, order="deterministic").decode()

    def lacking(self, active: "Generation") -> tuple[tuple[str, Stamp], ...]:
        """Files that are in force of which none of their kind is here."""
        pairs = zip(self.files(), active.files(), strict=True)
        return tuple((name, held) for (name, ours), (_, held) in pairs if ours is None and held is not None)

    def objection(self, active: "Generation") -> str | None:
        """Why these files can't take the place of those in force, as a sentence that says what to do."""
        for (name, ours), (_, theirs) in zip(self.files(), active.files(), strict=True):
            if theirs is None or ours == theirs:
                continue
            if ours is None:
                return (
                    f"A {name} file is in force ({theirs.sha256[:12]}…), and none is given here: set "
                    f"{_VARIABLES[name]} to it; or take all files out of force with `placet policy drop`."
                )
            if ours.revision < theirs.revision:
                return (
                    f"The {name} file here is revision {ours.revision}, and revision {theirs.revision} is in "
                    f"force: install that one here, or write revision = {theirs.revision + 1}."
                )
            if ours.revision and ours.revision == theirs.revision:
                return (
                    f"The {name} file here differs from the one in force, and both are revision "
                    f"{ours.revision}: install that one here, or write revision = {ours.revision + 1}."
                )
        return None

    def files(self) -> tuple[tuple[str, Stamp | None], tuple[str, Stamp | None]]:
        """What each is, and its stamp."""
        return ("policy", self.policy), ("directory", self.directory)


NO_FILES = Generation()
"""What is in force until the first file is: the built-in rule, and nobody in the directory."""


def generation_of(text: str) -> Generation:
    """What :attr:`Generation.text` has written; members that a later release has added are left out."""
    return msgspec.json.decode(text, type=Generation) if text else NO_FILES


def _hash(stamp: Stamp | None) -> str:
    return "-" if stamp is None else stamp.sha256
