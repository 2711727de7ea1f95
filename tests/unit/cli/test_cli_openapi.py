"""The API's description, printed."""

from tests.unit.cli.conftest import Type


def test_the_document_is_json_whether_asked_for_or_not(cli: Type) -> None:
    """Its server is the one that is configured."""
    environ = {"PLACET_PUBLIC_URL": "https://placet.example"}
    ran = cli("openapi", environ=environ)
    assert ran.status == 0
    document = ran.json()
    assert document["openapi"].startswith("3.1")
    assert document["servers"][0]["url"] == "https://placet.example"
    assert cli("openapi", "--json", environ=environ).json() == document
