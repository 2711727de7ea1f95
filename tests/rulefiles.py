"""The operator's two files in a directory of a test's own, to be written again as it likes."""

from pathlib import Path

from placet.domain.authority import Rulebook
from placet.domain.limits import Limits
from placet.settings.rule_files import RuleFiles, RulesAt, RulesInvalid, load

POLICY = """
[[rules]]
name = "all"
capabilities = ["*"]
approvers = { groups = ["treasury"], people = ["ann", "bob"] }
"""
DIRECTORY = """
[[people]]
id = "ann"
name = "Ann Marsh"
groups = ["treasury"]
aliases = ["ann@example.com"]

[[people]]
id = "bob"
groups = ["treasury"]

[[people]]
id = "cy"
groups = ["treasury", "cfo"]

[[people]]
id = "dana"
groups = ["platform"]
owns = ["nightly"]
"""
TREASURY = 'approvers = { groups = ["treasury"] }'


def rule(*lines: str, name: str = "r", approvers: str = TREASURY) -> str:
    """A rule of these lines, which begin in its fifth."""
    return "\n".join(["[[rules]]", f'name = "{name}"', 'capabilities = ["a.*"]', approvers, *lines, ""])


def block(*lines: str, when: str = 'risk = ["high"]') -> tuple[str, ...]:
    """A block of these lines, which begin in its third."""
    return ("[[rules.stricter]]", f"when = {{ {when} }}", *lines)


WITHOUT_ANN = DIRECTORY.replace('groups = ["treasury"]\naliases = ["ann@example.com"]', "")


class Files:
    """``policy.toml`` and ``directory.toml``; ``None`` for a file that is not there."""

    def __init__(self, folder: Path, policy: str | None = POLICY, directory: str | None = DIRECTORY) -> None:
        self._folder = folder
        self.policy, self.directory = folder / "policy.toml", folder / "directory.toml"
        self.write(policy, directory)

    def write(self, policy: str | None = POLICY, directory: str | None = DIRECTORY) -> None:
        """Put other texts in the place of both, as an installer does: in one step each."""
        for path, text in ((self.policy, policy), (self.directory, directory)):
            if text is None:
                path.unlink(missing_ok=True)
            else:
                fresh = path.with_suffix(".new")
                fresh.write_text(text, encoding="utf-8")
                fresh.replace(path)

    @property
    def source(self) -> RulesAt:
        """The files that are there now, as a service reads them."""
        policy, directory = (path if path.exists() else None for path in (self.policy, self.directory))
        return RulesAt(policy, directory, Limits())

    def load(self, limits: Limits | None = None) -> RuleFiles:
        """What they say."""
        source = self.source
        return load(source.policy, source.directory, limits or source.limits)

    @property
    def rulebook(self) -> Rulebook:
        """The rulebook of right ones."""
        return self.load().rulebook

    def problems(self) -> list[str]:
        """What is wrong with them, without their folder."""
        try:
            self.load()
        except RulesInvalid as fault:
            return self.told(fault.problems)
        return []

    def warnings(self) -> list[str]:
        """What should be looked at."""
        return self.told(self.load().warnings)

    def told(self, problems: object) -> list[str]:
        """Lines without the folder."""
        return [str(problem).replace(f"{self._folder}/", "") for problem in problems]  # type: ignore[attr-defined]
