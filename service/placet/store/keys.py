"""Key names that Python must know; the scripts name a record's own keys (``scripts/prelude.lua``)."""

REGISTRY = "placet:registry"
"""Hash, the one key outside the tenants' tags: a field ``t:<tenant>`` for each tenant, and what the replicas
agree on: ``keyring``, ``issuer``, ``generation``."""


def tag(tenant: str) -> str:
    """Prefix of every key of ``tenant``; the braces make it one cluster slot."""
    return f"{{placet:{tenant}}}:"


def meta(tenant: str) -> str:
    """The tenant's meta hash: the one key that every script is given."""
    return f"{tag(tenant)}m"


def principals(tenant: str) -> str:
    """The rows of the tenant's principals."""
    return f"{tag(tenant)}p"


def credentials(tenant: str) -> str:
    """Whose each credential of the tenant is."""
    return f"{tag(tenant)}y"


def stream(tenant: str) -> str:
    """The tenant's stream of transitions."""
    return f"{tag(tenant)}s"


def all_index() -> str:
    """Index of every record of the tenant."""
    return "x"


def pending_index() -> str:
    """Index of the records that wait for a decision."""
    return "x:p"


def client_index(client: str) -> str:
    """Index of what a client asked for or is the audience of."""
    return f"x:c:{client}"


def run_index(run: str) -> str:
    """Index of a run."""
    return f"x:r:{run}"


def rejected_index(digest: str) -> str:
    """Index of the records of this digest that were rejected."""
    return f"x:d:{digest}"


def member(requested_at_ms: int, approval_id: str) -> str:
    """A record's place in every index: fixed width, so that text order is the order of time."""
    return f"{requested_at_ms:013d}:{approval_id}"
