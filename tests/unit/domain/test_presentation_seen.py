"""A card is made from what the API answers, whoever reads it."""

import json

import msgspec
import pytest
from msgspec import Raw

from placet.application.record_shapes import RecordView
from placet.application.standing import as_decided
from placet.application.views import Sight, record_view
from placet.domain.canonical import canonicalize
from placet.domain.model import Approval, Presentation, Requested, Status
from placet.domain.presentation import Budget, at_ms, present, read_seen, seen_of
from tests.factories import T0_MS
from tests.unit.application.test_views import an_approval

BUDGET = Budget(lines=40)


def viewed(approval: Approval, sight: Sight) -> RecordView:
    """A record as it was decided."""
    return record_view(approval, sight, as_decided(approval))


@pytest.mark.parametrize("sight", list(Sight))
@pytest.mark.parametrize("status", [Status.PENDING, Status.APPROVED])
def test_over_http_and_in_process_it_is_the_same(sight: Sight, status: Status) -> None:
    """The view that the web UI has makes the card that the command line makes of its JSON."""
    original = Requested(input=Raw(b'{"x":1}'), input_hash="00" * 32, digest="11" * 32)
    view = viewed(an_approval(status, requested=original), sight)
    assert present(seen_of(view), BUDGET) == present(read_seen(msgspec.json.encode(view)), BUDGET)


def test_it_has_what_the_api_answers() -> None:
    """Nothing that a card needs is lost on the way; what it does not need is passed over."""
    approval = an_approval(Status.APPROVED, redact=("",))
    view = json.loads(msgspec.json.encode(viewed(approval, Sight.CARD)))
    seen = read_seen(json.dumps(view).encode())
    for name in seen.__struct_fields__:
        assert name in view, name
    assert at_ms(seen.requested_at) == T0_MS
    assert seen.decisions[0].digest == view["decisions"][0]["digest"]


def test_what_the_service_hides_is_marked() -> None:
    """The pointers of the record are those of the card."""
    approval = an_approval(redact=("/to",), input=Raw(canonicalize({"to": "bob", "n": 1})))
    shown = present(seen_of(viewed(approval, Sight.CARD)), BUDGET)
    assert shown.input.tree is not None
    assert shown.input.tree.hidden == 1
    assert approval.ask.presentation == Presentation(title="T", redact=("/to",))


def test_something_else_is_refused() -> None:
    """An answer that is no record."""
    with pytest.raises(msgspec.DecodeError):
        read_seen(b'{"id": "apr_1"}')
