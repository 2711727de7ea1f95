"""Whether those whom a rule tells in chats can be told: where not, that only warns.

The question waits all the same, and people find it on the pages; but whoever wrote the rule meant otherwise.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from placet.domain.chat import SlackApp
from placet.domain.patterns import matches
from placet.domain.people import Fault, Path, People
from placet.domain.rules import Rule

_SLACK = "slack:"
_NO_APP = "There is no Slack app for it: enter one in the directory, as [slack.T024BE7LD]."


def faults_of(path: Path, rule: Rule, apps: Mapping[str, SlackApp], people: People | None) -> Iterator[Fault]:
    """Channels and people of Slack that no app of the rule's tenants reaches.

    Args:
        path: Where the rule is.
        rule: It.
        apps: Those of the directory, by workspace.
        people: The directory's; ``None`` where they can't be looked at.
    """
    ours = [app for app in apps.values() if matches(app.tenant, rule.tenants)]
    for steps, whom in _told(rule):
        message = None
        if not ours:
            message = _NO_APP
        elif whom.startswith("#"):
            message = _no_channel(whom.removeprefix("#"), ours)
        elif whom.startswith("@") and people is not None:
            message = _no_person(whom.removeprefix("@"), ours, people)
        if message is not None:
            yield Fault(path=(*path, *steps), message=message, warns=True)


def _told(rule: Rule) -> Iterator[tuple[Path, str]]:
    """Whom a rule tells in Slack, by where it says so."""
    escalation = rule.terms.escalation
    listed = ((("tell",), rule.terms.tell), (("escalate", "tell"), escalation.tell if escalation else ()))
    for steps, names in listed:
        for place, name in enumerate(names):
            if name.startswith(_SLACK):
                yield (*steps, place), name.removeprefix(_SLACK)


def _no_channel(name: str, apps: Iterable[SlackApp]) -> str | None:
    """That no app has such a channel."""
    known = sorted({each for app in apps for each in app.channels})
    if name in known:
        return None
    near = difflib.get_close_matches(name, known, n=1)
    remedy = f"; did you mean {near[0]!r}?" if near else ": add it to the channels of one."
    return f"No Slack app has a channel {name!r}{remedy}"


def _no_person(person_id: str, apps: Iterable[SlackApp], people: People) -> str | None:
    """That there is no such person, or none whom an app reaches."""
    reached = {(app.tenant, app.team) for app in apps}
    members = [people.member(tenant, person_id) for tenant in sorted({tenant for tenant, _ in reached})]
    found = [member for member in members if member is not None]
    if not found:
        return f"{person_id!r} is not in the directory: nobody is told."
    if any((member.tenant, user.team) in reached for member in found for user in member.slack):
        return None
    return f"{person_id!r} has no user of a workspace with an app: give them one, as slack = [{{ … }}]."
