"""The hashes that bind are over canonical JSON, whatever is in it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from placet.domain import binding
from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.model import Actor, ActorKind, Ask, Effect, Presentation, Risk, Verdict
from tests.factories import an_ask
from tests.strategies import json_texts, json_values

few_texts = st.lists(json_texts(), max_size=3).map(tuple)
maybe_text = st.none() | json_texts()


def asks() -> st.SearchStrategy[Ask]:
    """Questions with anything in what is bound."""
    return st.builds(
        an_ask,
        tenant=json_texts(),
        capability=json_texts(),
        surface=json_texts(),
        effect=st.sampled_from(Effect),
        input_hash=json_texts(),
        actor=st.builds(
            Actor,
            id=json_texts(),
            kind=st.sampled_from(ActorKind),
            display_name=maybe_text,
            on_behalf_of=few_texts,
        ),
        presentation=st.builds(Presentation, title=maybe_text, summary=maybe_text, redact=few_texts),
        risk=st.sampled_from(Risk),
        reasons=few_texts,
        types=few_texts,
        allowed_decisions=st.lists(st.sampled_from(Verdict), min_size=1, max_size=3).map(tuple),
        run=maybe_text,
        audience=json_texts(),
        use_within_ms=st.none() | st.integers(1, 2**53 - 1),
    )


def words_of(ask: Ask) -> dict[str, Any]:
    """The words of its card, as the design lists them."""
    return {
        "presentation": {
            "title": ask.presentation.title,
            "summary": ask.presentation.summary,
            "redact": ask.presentation.redact,
        },
        "risk": ask.risk,
        "reasons": ask.reasons,
        "types": ask.types,
        "display_name": ask.actor.display_name,
        "on_behalf_of": ask.actor.on_behalf_of,
        "allowed_decisions": ask.allowed_decisions,
        "run": ask.run,
        "audience": ask.audience,
        "use_within_ms": ask.use_within_ms,
    }


@given(asks(), st.dictionaries(json_texts(), json_values(), max_size=4))
def test_the_hashes_are_over_the_canonical_form_of_what_they_bind(ask: Ask, context: dict[str, Any]) -> None:
    """Their encoder is another one than that of the canonical form, and writes the same."""
    call = binding.call_members(
        tenant=ask.tenant,
        capability=ask.capability,
        surface=ask.surface,
        actor_id=ask.actor.id,
        actor_kind=ask.actor.kind,
        effect=ask.effect,
        context=context,
        hash_of_input=ask.input_hash,
    )
    presented = {
        "v": 1,
        "tenant": ask.tenant,
        "capability": ask.capability,
        "surface": ask.surface,
        "actor": {"id": ask.actor.id, "kind": ask.actor.kind},
        "effect": ask.effect,
        "context": context,
        "input_hash": ask.input_hash,
    }
    display = sha256_hex(canonicalize(words_of(ask)))
    assert binding.display_hash(ask) == display
    assert binding.call_hash(call) == sha256_hex(canonicalize(presented))
    assert binding.digest(call, display) == sha256_hex(canonicalize({**presented, "display": display}))
