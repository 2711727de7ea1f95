"""Signing in for one decision: where a rule asks for it, and for that very decision alone."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from redis.asyncio import Redis

from placet.application.commands import Decide
from placet.application.intents import Intent
from placet.domain.limits import SIGN_ON_MS
from placet.domain.model import Verdict
from tests.browsing import Browser, hidden, words
from tests.factories import T0_MS, ManualClock
from tests.harness import Party, reason, record
from tests.provider import address_in, returned, signed_on
from tests.signing_on import Scene, signing_on

CRITICAL = {"risk": "critical", "capability": "grave.delete"}
POLICY = """
[[rules]]
name = "grave"
capabilities = ["grave.*"]
approvers = { groups = ["ops"] }

[[rules]]
name = "easy"
capabilities = ["easy.*"]
approvers = { groups = ["ops"] }
step_up = false

[[rules]]
name = "asked"
capabilities = ["*"]
approvers = { groups = ["ops"] }
edit = "counts"
step_up = true
"""


@pytest.fixture
async def scene(
    client: Redis, ring_directory: Path, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[Scene]:
    """The stage, over a store of every kind in turn."""
    async with signing_on(client, ring_directory, tmp_path, clock, POLICY) as scene:
        yield scene


@pytest.fixture
async def runtime(scene: Scene) -> Party:
    """Who asks."""
    return await scene.h.client("agents")


@pytest.fixture
async def ann(scene: Scene) -> Browser:
    """Somebody who has signed in."""
    browser = scene.browser()
    await signed_on(browser, scene.provider)
    return browser


async def approving(browser: Browser, approval_id: str, **changes: Any) -> httpx.Response:
    """Approve as the pages lead there: of a critical call after its second question."""
    answer = await browser.decide(approval_id, "approve", **changes)
    if "Approve this critical call?" in answer.text:
        fields = {**hidden(answer), "decision": "approve"}
        comment = re.search(r'<textarea name="comment" hidden>\n(.*?)</textarea>', answer.text, re.DOTALL)
        answer = await browser.post(f"/a/{approval_id}", {**fields, "comment": comment[1] if comment else ""})
    return answer


async def status_of(runtime: Party, approval_id: str) -> str:
    """How it stands."""
    return str((await runtime.seen(approval_id))["status"])


class TestAskedFor:
    """Where it is asked for, and what becomes of it."""

    async def test_a_critical_call_is_approved_after_a_fresh_sign_in(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """By default, where an issuer signs people in; what it says of it stays with the vote."""
        asked = await runtime.asked(**CRITICAL)
        card = await ann.get(f"/a/{asked['id']}")
        assert "Approving asks you to sign in with Example <login> once more" in words(card)
        leaving = await approving(ann, asked["id"], comment="looked twice")
        assert "Nothing is decided yet" in words(leaving)
        address = address_in(leaving)
        query = parse_qs(urlsplit(address).query)
        assert (query["max_age"], query["prompt"], "acr_values" in query) == (["0"], ["login"], False)
        assert await status_of(runtime, asked["id"]) == "pending"
        scene.provider.claimed = {"acr": "phr", "amr": ["pin", "hwk"]}
        answer = await returned(ann, scene.provider.authorize(address))
        assert (answer.status_code, answer.headers["location"]) == (303, f"/a/{asked['id']}")
        seen = await runtime.seen(asked["id"])
        vote = seen["decisions"][0]
        assert (seen["status"], vote["comment"], vote["channel"]) == ("approved", "looked twice", "web")
        assert vote["step_up"] == {"at": "2027-01-15T08:00:00.000Z", "acr": "phr", "amr": ["pin", "hwk"]}
        after = words(await ann.get(f"/a/{asked['id']}"))
        assert "via web, after signing in for it (phr, pin, hwk)" in after
        token = await runtime.token(asked["id"])
        assert record(await runtime.consume(asked, token))["status"] == "consumed"

    async def test_a_rule_can_ask_for_it_always_or_never(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """Whatever the risk."""
        always, never = await runtime.asked(), await runtime.asked(risk="critical", capability="easy.x")
        assert "Nothing is decided yet" in words(await approving(ann, always["id"]))
        assert (await approving(ann, never["id"])).status_code == 303
        assert (await runtime.seen(never["id"]))["decisions"][0]["step_up"] is None
        assert await status_of(runtime, always["id"]) == "pending"

    async def test_a_rejection_needs_none(self, runtime: Party, ann: Browser) -> None:
        """Nothing runs by it."""
        asked = await runtime.asked(**CRITICAL)
        assert (await ann.decide(asked["id"], "reject")).status_code == 303
        assert await status_of(runtime, asked["id"]) == "rejected"

    async def test_nobody_approves_around_it(self, scene: Scene, runtime: Party) -> None:
        """A credential for the API, which no sign-in stands behind, is no way."""
        asked, ann = await runtime.asked(**CRITICAL), await scene.h.approver("ann")
        assert reason(await ann.decide(asked)) == (403, "FORBIDDEN", "channel-not-allowed")
        assert record(await ann.decide(asked, "reject"))["status"] == "rejected"

    async def test_an_approval_given_before_it_was_asked_for_is_none(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """It could not be given today: it is given anew, with it."""
        asked = await runtime.asked(capability="easy.x")
        await approving(ann, asked["id"])
        token = await runtime.token(asked["id"])
        await scene.rewritten(policy=POLICY.replace("step_up = false", "step_up = true"))
        lost = (403, "FORBIDDEN", "approver-no-longer-entitled")
        assert reason(await runtime.consume(asked, token)) == lost

    async def test_changes_are_approved_with_it_too(self, scene: Scene, runtime: Party, ann: Browser) -> None:
        """Exactly those that were shown."""
        asked = await runtime.asked(effect="write", allowed_decisions=["approve", "edit", "reject"])
        path = f"/a/{asked['id']}/edit"
        fields = {
            **hidden(await ann.get(path)),
            "input": '{"order": "A-1", "amount": 4.50}',
            "comment": "less",
        }
        shown = hidden(await ann.post(path, {**fields, "decision": "preview"}))
        leaving = await ann.post(path, {**fields, **shown, "decision": "edit"})
        answer = await returned(ann, scene.provider.authorize(address_in(leaving)))
        assert answer.status_code == 303, words(answer)
        seen = await runtime.seen(asked["id"])
        assert (seen["status"], seen["input"]) == ("approved", {"order": "A-1", "amount": 4.5})
        assert seen["decisions"][0]["step_up"] is not None

    async def test_a_rule_that_leaves_no_page_asks_for_none(self, scene: Scene, runtime: Party) -> None:
        """By default: what is decided through other channels alone is decided there."""
        await scene.rewritten(policy=POLICY.replace("step_up = false", 'channels = ["api"]'))
        asked, ann = await runtime.asked(risk="critical", capability="easy.x"), await scene.h.approver("ann")
        assert record(await ann.decide(asked))["status"] == "approved"

    async def test_nobody_is_sent_away_for_what_would_be_refused(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """It is told at once."""
        asked = await runtime.asked(actor={"id": "ann", "kind": "user"})
        answer = await approving(ann, asked["id"])
        assert (answer.status_code, "Nothing was decided." in words(answer)) == (403, True)
        assert scene.provider.server.asked.count("/token") == 1  # of signing in


class TestThatVeryDecision:
    """What does not do."""

    @pytest.mark.parametrize(
        ("claims", "said"),
        [
            ({"auth_time": ...}, "Example <login> does not say when you proved who you are."),
            ({"auth_time": T0_MS // 1_000 - 6}, "Example <login> did not ask you again who you are."),
            ({"auth_time": T0_MS // 1_000 + 6}, "Example <login> did not ask you again who you are."),
            ({"auth_time": T0_MS}, "What Example <login> says of you can't be relied on"),
            ({"auth_time": "\ud800"}, "What Example <login> says of you can't be relied on"),
            ({"sub": "u-2"}, "You signed in as somebody else: this page is of another person."),
            ({"nonce": "another"}, "What Example <login> says of you can't be relied on"),
        ],
    )
    async def test_what_an_issuer_says_must_be_of_it(
        self, scene: Scene, runtime: Party, ann: Browser, claims: dict[str, Any], said: str
    ) -> None:
        """Else nothing is decided, and nothing that was written is lost."""
        asked = await runtime.asked()
        leaving = await approving(ann, asked["id"], comment="looked twice")
        scene.provider.claimed = claims
        answer = await returned(ann, scene.provider.authorize(address_in(leaving)))
        assert (answer.status_code, said in words(answer)) == (409, True), words(answer)
        assert "looked twice</textarea>" in answer.text
        assert await status_of(runtime, asked["id"]) == "pending"
        assert (await ann.get("/inbox")).status_code == 200  # as who they were

    async def test_how_somebody_proves_who_they_are_can_be_asked_for(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """By classes; any of them will do."""
        await scene.rewritten(('label = "', 'acr_values = ["phr", "phrh"]\nlabel = "'), policy=POLICY)
        for run, (acr, status) in enumerate((("phrh", "approved"), ("pwd", "pending"), (..., "pending"))):
            asked = await runtime.asked(run=f"r-{run}")
            address = address_in(await approving(ann, asked["id"]))
            assert parse_qs(urlsplit(address).query)["acr_values"] == ["phr phrh"]
            scene.provider.claimed = {"acr": acr}
            answer = await returned(ann, scene.provider.authorize(address))
            does_not = "How you proved who you are does not do for this." in words(answer)
            assert (await status_of(runtime, asked["id"]), does_not) == (status, status == "pending")

    async def test_what_was_refused_there_is_told(self, scene: Scene, runtime: Party, ann: Browser) -> None:
        """And what was written of an edit is kept."""
        asked = await runtime.asked(effect="write", allowed_decisions=["approve", "edit", "reject"])
        path = f"/a/{asked['id']}/edit"
        fields = {**hidden(await ann.get(path)), "input": '{"order":   "A-2"}', "comment": "less"}
        shown = hidden(await ann.post(path, {**fields, "decision": "preview"}))
        leaving = await ann.post(path, {**fields, **shown, "decision": "edit"})
        back = scene.provider.authorize(address_in(leaving), error="access_denied", code="")
        answer = await returned(ann, back)
        assert "You did not sign in with Example <login>" in words(answer)
        assert "{&#34;order&#34;:   &#34;A-2&#34;}" in answer.text

    async def test_an_issuer_that_is_away_decides_nothing(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """Nor one that this service can't say to who it is."""
        asked = await runtime.asked()
        leaving = await approving(ann, asked["id"])
        scene.secret_file.unlink()
        answer = await returned(ann, scene.provider.authorize(address_in(leaving)))
        assert "This service is not set up right to sign you in with Example <login>" in words(answer)
        assert await status_of(runtime, asked["id"]) == "pending"

    async def test_it_is_of_the_session_that_decided(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """Not of one in another browser, nor of another person's in this one."""
        asked = await runtime.asked()
        address = address_in(await approving(ann, asked["id"]))
        elsewhere = scene.browser()
        await signed_on(elsewhere, scene.provider)
        elsewhere.cookies = {**ann.cookies, "placet-8420": elsewhere.cookies["placet-8420"]}
        scene.provider.claimed = {"sub": "u-9", "groups": ["ops"]}
        await signed_on(ann, scene.provider)
        scene.provider.claimed = {}
        for browser in (elsewhere, ann):
            answer = await returned(browser, scene.provider.authorize(address))
            assert (answer.status_code, "Nothing was decided" in words(answer)) == (403, True)
        assert await status_of(runtime, asked["id"]) == "pending"

    async def test_it_goes_on_where_the_same_person_signs_in_again(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """In another window of this browser."""
        asked = await runtime.asked()
        address = address_in(await approving(ann, asked["id"]))
        await signed_on(ann, scene.provider)
        assert (await returned(ann, scene.provider.authorize(address))).status_code == 303

    async def test_it_is_judged_by_what_the_issuer_says_now(self, scene: Scene, runtime: Party) -> None:
        """Who left the group since, or goes by a name of the asking side by now, approves nothing."""
        asked = await runtime.asked(actor={"id": "nina@x.example", "kind": "user"})
        for then, now in (
            ({"groups": ["ops"]}, {"groups": []}),
            ({"groups": ["ops"]}, {"groups": ["ops"], "email": "nina@x.example"}),
        ):
            scene.provider.claimed = {"sub": "u-9", **then}
            browser = scene.browser()
            await signed_on(browser, scene.provider)
            address = address_in(await approving(browser, asked["id"]))
            scene.provider.claimed = {"sub": "u-9", **now}
            answer = await returned(browser, scene.provider.authorize(address))
            assert answer.status_code in {403, 404}
            assert await status_of(runtime, asked["id"]) == "pending"

    async def test_groups_that_aged_meanwhile_are_told_anew_by_it(self, scene: Scene, runtime: Party) -> None:
        """Nobody signs in twice for that."""
        asked = await runtime.asked(expires_in_ms=3_600_000)
        scene.provider.claimed = {"sub": "u-9", "groups": ["ops"]}
        browser = scene.browser()
        await signed_on(browser, scene.provider)
        scene.h.clock.move(14 * 60_000)
        address = address_in(await approving(browser, asked["id"]))
        scene.h.clock.move(2 * 60_000)
        assert (await returned(browser, scene.provider.authorize(address))).status_code == 303
        assert await status_of(runtime, asked["id"]) == "approved"

    async def test_a_way_that_does_no_more_counts_no_more(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """Where more is asked of a step-up by now, a grant that was given with less is not used."""
        asked = await runtime.asked()
        scene.provider.claimed = {"acr": "pwd"}
        await returned(ann, scene.provider.authorize(address_in(await approving(ann, asked["id"]))))
        token = await runtime.token(asked["id"])
        await scene.rewritten(('label = "', 'acr_values = ["phr"]\nlabel = "'), policy=POLICY)
        lost = (403, "FORBIDDEN", "approver-no-longer-entitled")
        assert reason(await runtime.consume(asked, token)) == lost

    async def test_it_counts_once(self, scene: Scene, runtime: Party, ann: Browser) -> None:
        """Whatever is sent again: the decision was taken with it."""
        asked = await runtime.asked()
        address = address_in(await approving(ann, asked["id"]))
        flow = dict(ann.cookies)
        assert (await returned(ann, scene.provider.authorize(address))).status_code == 303
        ann.cookies = flow
        again = await returned(ann, scene.provider.authorize(address))
        assert (again.status_code, "this was decided already" in words(again)) == (403, True)
        assert len((await runtime.seen(asked["id"]))["decisions"]) == 1

    async def test_what_changed_meanwhile_is_not_approved(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """The decision is of what was shown."""
        asked = await runtime.asked()
        address = address_in(await approving(ann, asked["id"]))
        await runtime.cancel(asked["id"])
        answer = await returned(ann, scene.provider.authorize(address))
        assert (answer.status_code, "Nothing was decided." in words(answer)) == (409, True)
        assert await status_of(runtime, asked["id"]) == "cancelled"

    async def test_whoever_stays_away_has_decided_nothing(
        self, scene: Scene, runtime: Party, ann: Browser, clock: ManualClock
    ) -> None:
        """The decision is kept for as long as a sign-in may take."""
        asked = await runtime.asked(expires_in_ms=3_600_000)
        address = address_in(await approving(ann, asked["id"]))
        (key,) = [each async for each in scene.h.redis.scan_iter("{placet:default}:q:*")]
        assert 0 < await scene.h.redis.pttl(key) <= SIGN_ON_MS
        clock.move(SIGN_ON_MS + 1)
        answer = await returned(ann, scene.provider.authorize(address))
        assert "That took too long." in words(answer)
        assert await status_of(runtime, asked["id"]) == "pending"

    async def test_a_decision_in_the_store_is_nobody_s_to_write(
        self, scene: Scene, runtime: Party, ann: Browser
    ) -> None:
        """It is sealed: one that was changed is none."""
        asked = await runtime.asked()
        address = address_in(await approving(ann, asked["id"]))
        (key,) = [each async for each in scene.h.redis.scan_iter("{placet:default}:q:*")]
        kept = bytes(await scene.h.redis.get(key))
        await scene.h.redis.set(key, kept.replace(b'"comment":null', b'"comment":"no"'))
        answer = await returned(ann, scene.provider.authorize(address))
        assert (answer.status_code, await status_of(runtime, asked["id"])) == (403, "pending")

    async def test_the_nonce_is_of_session_approval_digest_and_decision(self, scene: Scene) -> None:
        """And of the flow: another in any of them is another nonce."""
        held = [scene.browser() for _ in range(2)]
        for browser in held:
            await signed_on(browser, scene.provider)
        one, other = [
            await scene.h.services.sessions.find(browser.cookies["placet-8420"]) for browser in held
        ]

        def intent(approval: str = "a", digest: str = "0" * 64, verdict: Verdict = Verdict.APPROVE) -> Intent:
            return Intent(approval=approval, body=Decide(decision=verdict, digest=digest))

        nonce = scene.h.services.intents.nonce
        nonces = [
            nonce(one, intent(), "s"),
            nonce(other, intent(), "s"),
            nonce(one, intent(approval="b"), "s"),
            nonce(one, intent(digest="1" * 64), "s"),
            nonce(one, intent(verdict=Verdict.EDIT), "s"),
            nonce(one, intent(), "t"),
        ]
        assert len(set(nonces)) == len(nonces)
        assert nonce(one, intent(), "s") == nonces[0]
