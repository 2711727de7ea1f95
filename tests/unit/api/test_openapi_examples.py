"""The examples of refusals are those that the calls give."""

import pytest

from placet.api.openapi_examples import forbidden
from placet.api.routes import ROUTES, Route


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_missing_scope_is_shown_with_those_that_the_call_takes(route: Route) -> None:
    """So that the reference of a call names what its credential needs."""
    lacking = forbidden(route)[f"FORBIDDEN.scope.{route.name}"]
    assert lacking.details == {"reason": "scope", "scopes": tuple(sorted(route.scopes))}
