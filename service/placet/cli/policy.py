"""``placet policy check``: read the operator's files for faults, before they are put in force.

It opens no store and needs no server's libraries, so that it can run wherever the files are written.
"""

import argparse
from pathlib import Path
from typing import Any

from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.domain.authority import Rulebook
from placet.domain.generation import Stamp
from placet.domain.text import visible
from placet.settings import RuleSettings, Settings, load
from placet.settings.rule_files import Problem, RuleFiles, RulesInvalid
from placet.settings.rule_files import load as load_rules


def check(args: argparse.Namespace, context: Context) -> int:
    """Tell every fault and every doubt, each with its line."""
    settings = load(
        context.environ,
        {"PLACET_POLICY_FILE": args.file, "PLACET_DIRECTORY_FILE": args.PLACET_DIRECTORY_FILE},
    )
    files = settings.rules
    try:
        read_ = read(settings)
    except RulesInvalid as fault:
        problems, warnings, rulebook = fault.problems, fault.warnings, None
    else:
        problems, warnings, rulebook = (), (*read_.warnings, *read_.unusable), read_.rulebook
    out = context.console.out
    told = {Ink.RED: problems, Ink.YELLOW: warnings}
    lines = [
        line for ink, found in told.items() for each in found for line in out.marked(ink, visible(str(each)))
    ]
    document = {
        "ok": rulebook is not None,
        "faults": list(map(_problem, problems)),
        "warnings": list(map(_problem, warnings)),
    }
    if rulebook is None:
        context.console.result(document, *lines, "", _counted(len(problems)))
        return Exit.FAILED
    document |= {"version": rulebook.generation.version, **_contents(files, rulebook)}
    lines += [line for each in summary(files, rulebook) for line in out.marked(Ink.GREEN, each)]
    context.console.result(document, *lines)
    return Exit.OK


def read(settings: Settings) -> RuleFiles:
    """What the files of the settings say.

    Raises:
        Stop: No file is named.
        RulesInvalid: They can't be used.
    """
    files = settings.rules
    if files == RuleSettings():
        raise Stop("No file is named: give one, or set PLACET_POLICY_FILE.", Exit.USAGE)
    return load_rules(files.policy_file, files.directory_file, settings.limits)


def summary(files: RuleSettings, rulebook: Rulebook) -> list[str]:
    """What is in each file, in a sentence."""
    stamps, policies = rulebook.generation, rulebook.policies
    found = []
    if policies is not None:
        contents = f"{_number(len(policies.rules), 'rule')}, {_number(len(policies.floors), 'floor')}"
        found.append(_named(files.policy_file, stamps.policy, contents))
    if stamps.directory is not None:
        people, issuers = len(rulebook.people.members), len(rulebook.issuers)
        contents = f"{'1 person' if people == 1 else f'{people} people'}, {_number(issuers, 'issuer')}"
        found.append(_named(files.directory_file, stamps.directory, contents))
    return found


def _named(path: Path | None, stamp: Stamp | None, contents: str) -> str:
    revision = f"revision {stamp.revision}" if stamp is not None and stamp.revision else "no revision"
    return f"{visible(str(path))}: {contents}, {revision}."


def _contents(files: RuleSettings, rulebook: Rulebook) -> dict[str, Any]:
    policies, stamps = rulebook.policies, rulebook.generation
    rules = {} if policies is None else {"rules": len(policies.rules), "floors": len(policies.floors)}
    people = {"people": len(rulebook.people.members), "issuers": len(rulebook.issuers)}
    return {
        "policy": _file(files.policy_file, stamps.policy, rules),
        "directory": _file(files.directory_file, stamps.directory, people),
    }


def _file(path: Path | None, stamp: Stamp | None, contents: dict[str, int]) -> dict[str, Any] | None:
    if stamp is None:
        return None
    return {"file": str(path), "sha256": stamp.sha256, "revision": stamp.revision or None, **contents}


def _problem(problem: Problem) -> dict[str, Any]:
    return {"file": problem.file, "line": problem.line or None, "message": problem.message}


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _counted(faults: int) -> str:
    return f"{_number(faults, 'fault')}: a service would not start with this."
