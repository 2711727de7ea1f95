"""The route table and how it is searched."""

import pytest
from msgspec import structs

from placet.api.routes import ROUTES, Router
from placet.domain.errors import TABLE, MethodNotAllowed, RouteNotFound
from placet.domain.principals import Approver, Client, Scope

ROUTER = Router()


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_is_found_with_its_parameters(route: object) -> None:
    """A path with its braces filled in leads to its route."""
    path = route.path.replace("{id}", "apr_1").replace("{run}", "r-1")  # type: ignore[attr-defined]
    found, parameters = ROUTER.find(route.method, path)  # type: ignore[attr-defined]
    assert found is route
    assert set(parameters.values()) <= {"apr_1", "r-1"}


def test_head_is_found_as_get_is() -> None:
    """HEAD leads to what GET does, and nowhere where there is no GET."""
    assert ROUTER.find("HEAD", "/v1/approvals") == ROUTER.find("GET", "/v1/approvals")
    with pytest.raises(MethodNotAllowed):
        ROUTER.find("HEAD", "/v1/tokens/introspect")


@pytest.mark.parametrize(
    "path", ["", "/", "/v1", "/v1/approvals/", "/v1/approvals//events", "/v1/approvals/a/b/c"]
)
def test_what_is_not_there_is_not_found(path: str) -> None:
    """No route has an empty segment, or one more or less."""
    with pytest.raises(RouteNotFound):
        ROUTER.find("GET", path)


def test_methods_of_one_path_share_it() -> None:
    """Two routes with the same parameters are told apart by their method."""
    get = next(route for route in ROUTES if route.name == "get_approval")
    delete = structs.replace(get, method="DELETE", name="delete_approval")
    router = Router((get, delete))
    assert router.find("DELETE", "/v1/approvals/a") == (delete, {"id": "a"})
    assert router.find("GET", "/v1/approvals/a") == (get, {"id": "a"})
    with pytest.raises(MethodNotAllowed) as caught:
        router.find("PUT", "/v1/approvals/a")
    assert caught.value.allow == ("GET", "DELETE", "HEAD")


def test_names_are_one_to_one() -> None:
    """Names are used by metrics and OpenAPI: each stands once."""
    assert len({route.name for route in ROUTES}) == len(ROUTES)
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_conflicts_are_codes() -> None:
    """Whatever a route says it may refuse with is in the table."""
    assert {code for route in ROUTES for code in route.conflicts} <= set(TABLE)


def test_only_consume_and_introspect_bring_a_token() -> None:
    """And so only they have room for one."""
    assert {route.name for route in ROUTES if route.carries_token} == {"consume_approval", "introspect_token"}


def test_people_and_clients_are_admitted_by_their_own_rules() -> None:
    """A person by the route alone, a client by any one of its scopes."""
    person = Approver(tenant="t", id="ann")
    admitted = {route.name for route in ROUTES if route.admits(person)}
    reading = {"list_approvals", "get_approval", "get_approval_events", "follow_events"}
    assert admitted == {*reading, "decide_approval", "decide_approvals"}
    for scope in Scope:
        client = Client(tenant="t", name="c", scopes=frozenset({scope}))
        assert {route.name for route in ROUTES if route.admits(client)} == {
            route.name for route in ROUTES if scope in route.scopes
        }
