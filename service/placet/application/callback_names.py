"""How a bridge is called in the address of its callbacks, which carries its tenant as well.

``chat`` of tenant ``default`` calls at ``/v1/callbacks/chat``, that of tenant ``blue`` at
``/v1/callbacks/blue.chat``. Names of clients may have dots themselves, so that may also be ``blue.chat`` of
``default``: the name says where to look, and the signature whose it is, for no two bridges have a secret in
common.
"""

import re
from typing import Final

from placet.domain.limits import ID_PATTERN, TENANT_PATTERN
from placet.domain.principals import Client

DEFAULT_TENANT: Final = "default"
PATH: Final = "/v1/callbacks/"


def path_of(bridge: Client) -> str:
    """Where it calls."""
    named = bridge.name if bridge.tenant == DEFAULT_TENANT else f"{bridge.tenant}.{bridge.name}"
    return f"{PATH}{named}"


def places_of(named: str) -> tuple[tuple[str, str], ...]:
    """The tenants and names of the bridges that may be called so: two at most, the default tenant's first."""
    tenant, _, name = named.partition(".")
    places = [(DEFAULT_TENANT, named)]
    if tenant != DEFAULT_TENANT and re.fullmatch(TENANT_PATTERN, tenant):
        places.append((tenant, name))
    return tuple(place for place in places if re.fullmatch(ID_PATTERN, place[1]))
