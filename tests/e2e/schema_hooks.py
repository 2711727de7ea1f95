"""What schemathesis is told about the service under test. It loads this in its own process.

Well-formed ids and digests that it makes up would only ever find nothing, so most of them become those of
records that there are. Nothing malformed is touched. And nobody waits for long.
"""

import json
import os
import random
import re
from typing import Any

from schemathesis import Case, HookContext, hook

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LONG_WAIT = re.compile(r"[1-5]?[0-9]|60")
_OFTEN = 0.7

_RECORDS: dict[str, str] = json.loads(os.environ["PLACET_TEST_RECORDS"])
"""From the ids of records to their digests."""


@hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Make a call about something."""
    path, query, body = case.path_parameters or {}, case.query or {}, case.body
    if _ID.fullmatch(str(path.get("id", ""))) and random.random() < _OFTEN:
        path["id"] = random.choice(list(_RECORDS))
        if isinstance(body, dict) and _DIGEST.fullmatch(str(body.get("digest"))):
            body["digest"] = _RECORDS[path["id"]]
    for item in _items(body):
        if _ID.fullmatch(str(item.get("id", ""))) and random.random() < _OFTEN:
            item["id"] = random.choice(list(_RECORDS))
            if _DIGEST.fullmatch(str(item.get("digest"))):
                item["digest"] = _RECORDS[item["id"]]
    if _LONG_WAIT.fullmatch(str(query.get("wait", ""))):
        query["wait"] = random.choice([0, 1])


def _items(body: object) -> list[dict[str, Any]]:
    """The decisions of a batch, as far as they are any."""
    items = body.get("decisions") if isinstance(body, dict) else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
