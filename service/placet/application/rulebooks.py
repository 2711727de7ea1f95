"""The operator's rules, as this process has them: those of its files, and those it judged by before.

While other rules are put in force, one tenant after the other changes over; each is judged by what its own
roll names (:mod:`placet.application.roll`). Rules that this process does not have it looks for in its files:
the operator may have replaced them.
"""

import logging
from collections.abc import Hashable
from typing import Protocol

from placet.domain.authority import Rulebook
from placet.settings.rule_files import Problem, RuleFiles, RulesInvalid

_log = logging.getLogger(__name__)


class Source(Protocol):
    """Where rules are read from."""

    def read(self) -> RuleFiles:
        """All of it, anew.

        Raises:
            RulesInvalid: It can't be used.
        """
        ...

    def look(self) -> Hashable:
        """What is another value whenever something has changed."""
        ...


class NoFiles:
    """The source where there are no files: the built-in rule."""

    def read(self) -> RuleFiles:
        """Nothing."""
        return RuleFiles(rulebook=Rulebook())

    def look(self) -> Hashable:
        """Always the same."""
        return None


class Rulebooks:
    """Rulebooks by their generation.

    Args:
        source: Where this process's own comes from.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._looked: Hashable = None
        self.own = Rulebook()
        """What this process judges by."""
        self._before = self.own

    def at(self, generation: str) -> Rulebook | None:
        """The rulebook of a generation; ``None`` where this process has not got it.

        The built-in rule is nobody's to fall back to: it is known only where there are no files.
        """
        found = self._known(generation)
        if found is None and self._source.look() != self._looked:
            try:
                replaced = self.read()
            except RulesInvalid as fault:
                log_faults(fault)
                return None
            if replaced.generation.text == generation:
                self.adopt(replaced)
                return replaced
        return found

    def _known(self, generation: str) -> Rulebook | None:
        return next((book for book in (self.own, self._before) if book.generation.text == generation), None)

    def read(self) -> Rulebook:
        """What the files say now; warnings go to the log.

        Raises:
            RulesInvalid: They can't be used. What is wrong is the caller's to tell, where it is read.
        """
        self._looked = self._source.look()
        found = self._source.read()
        for warning in (*found.warnings, *found.unusable):
            _log.warning("a rule file deserves a look", extra=_facts(warning))
        return found.rulebook

    def adopt(self, rulebook: Rulebook) -> None:
        """Judge by these rules from now on, and by those of before where a tenant still is."""
        self._before = rulebook if self.own.generation.version == "" else self.own
        self.own = rulebook


def log_faults(fault: RulesInvalid) -> None:
    """Log all that is wrong, where nobody waits for it at a terminal."""
    for problem in fault.problems:
        _log.error("a rule file is wrong", extra=_facts(problem))


def _facts(problem: Problem) -> dict[str, str | int]:
    line = {"line": problem.line} if problem.line else {}
    return {"file": problem.file, **line, "fault": problem.message}
