"""Ids fold to one form per person, and disguises are refused at the door."""

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from placet.domain.identity import check_id, fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("alice@example.com", "alice@example.com"),
        ("  Alice@Example.COM\n", "alice@example.com"),
        ("\uff21\uff4c\uff49\uff43\uff45", "alice"),  # full-width
        ("\U0001d400lice", "alice"),  # mathematical bold
        ("a\u200bli\u00adce\ufeff", "alice"),  # zero-width space, soft hyphen, byte-order mark
        ("stra\u00dfe", "strasse"),
        ("\ufb01n", "fin"),  # ligature
        ("\u212bngstr\u00f6m", "\u00e5ngstr\u00f6m"),  # ANGSTROM SIGN
        ("e\u0301", "\u00e9"),
        ("\u03a3\u03c2", "\u03c3\u03c3"),  # both lower-case sigmas
        ("\u0390", "\u0390"),  # folds to three code points that compose again
        ("\u00a8x", "\u0308x"),  # DIAERESIS brings forth a space at the edge, which is trimmed
        ("\u13a0", "\u13a0"),  # Cherokee folds to its capitals
        ("\uab70", "\u13a0"),
        ("\u212a", "k"),  # KELVIN SIGN
        ("\u200b \u2060", ""),
        ("", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    """Characters fold by trimming and NFKC_Casefold, until nothing changes."""
    assert fold(text) == folded


BOB = "bob@example.com"


@pytest.mark.parametrize(
    "spelling",
    [
        "mailto:bob@example.com",
        "MailTo: bob@example.com",
        "acct:bob@example.com",
        "mailto:bob%40example.com",
        "acct:mailto:bob@example.com",
        "bob%40example.com",
        "<bob@example.com>",
        '"bob@example.com"',
        "'bob@example.com'",
        "\u201cbob@example.com\u201d",
        "\uff1cbob\uff20example.com\uff1e",  # full-width brackets and at sign
        "bob@example.com.",
        "bob@example.com..",
        "bob@example\u3002com\uff61",  # ideographic full stops
        '"bob"@example.com',
        "bob @ example.com",
        "Bob <bob@example.com>",
        '"Mallory, Bob" <mailto:bob%40example.com.>',
        "Bob <<bob@example.com>>",
        "bob@example.com <bob@example.com>",
        "<Bob <bob@example.com>>.",
        "Bob <bob@example.com> (at work)",
        "<mailto:<'bob@example.com.'>>",
        "Bob <bob@example.com> <>",
        "<bob@example.com",
        "mailto\u200b:bob@example.com",
        "smtp:bob@example.com",
        "bob@example.com (Bob)",
        "(Bob) bob@example.com",
        "(bob@example.com)",
        "[bob@example.com]",
        "bob@example.com,",
        "bob@example.com;",
        "Bob Ross bob@example.com",
        "mailto:bob%2540example.com",
        "mailto://bob@example.com",
        "mailto:bob@example.com?subject=hi",
        "xmpp:bob@example.com/phone",
        "%62ob%40example%2ecom",
        "bob\u2800@example.com",
    ],
)
def test_an_address_in_any_dress_is_the_address(spelling: str) -> None:
    """Quotes, brackets, names, schemes, escapes and a closing dot make no second person."""
    assert fold(spelling) == BOB


@pytest.mark.parametrize(
    "other",
    [
        "bob",  # who that is, only a directory of aliases knows
        "bob+x@example.com",  # another mailbox at some providers
        "b.ob@example.com",
        "bob@mail.example.com",
        "bob.@example.com",
        "mailto.bob@example.com",
    ],
)
def test_another_address_is_another_person(other: str) -> None:
    """Nothing is guessed from what looks alike."""
    assert fold(other) != BOB


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("bob.", "bob."),
        ("Jane Doe", "jane doe"),
        ("orders->refund", "orders->refund"),
        ("a<b", "a<b"),
        ("O'Neill", "o'neill"),
        ("bob@", "bob@"),
        ("@example.com.", "@example.com"),
        ("a@b@example.com", "a@b@example.com"),
        ("svc:billing/eu-1", "svc:billing/eu-1"),
        ("xn--bcher-kva", "xn--bcher-kva"),  # no domain
        ("acct:shop-agent", "shop-agent"),
        ("Shop <shop-agent>", "shop-agent"),
        ('\'"<>"', ""),
        ("mailto: <acct:>", ""),
    ],
)
def test_what_is_no_address_only_loses_its_dress(text: str, folded: str) -> None:
    """Dots, punycode and what stands inside are left alone."""
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("ace", "unicode"),
    [
        ("xn--bcher-kva.example", "b\u00fccher.example"),
        ("www.XN--BCHER-KVA.example", "www.B\u00dcCHER.example"),
        ("xn--strae-oqa.de", "stra\u00dfe.de"),  # as IDNA2008 has it; folded to what IDNA2003 makes of it
        ("xn--e1afmkfd.xn--p1ai", "\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444"),
        ("xn--fsqu00a.xn--0zwm56d.", "\u4f8b\u5b50\u3002\u6d4b\u8bd5"),
    ],
)
def test_a_punycode_domain_is_its_unicode_form(ace: str, unicode: str) -> None:
    """Both spellings of an internationalised domain are one."""
    assert fold(f"bob@{ace}") == fold(f"bob@{unicode}")
    assert not fold(f"bob@{ace}").isascii() or "\u00df" in unicode


def ace_of(text: str) -> str:
    """The punycode label that decodes to the text."""
    return "xn--" + text.encode("punycode").decode("ascii")


@pytest.mark.parametrize(
    "label",
    [
        "xn--",
        "xn---",
        "xn--abc-",  # decodes to ASCII
        "xn--zz",  # incomplete
        "xn--99999999",  # beyond Unicode
        "xn--" + "a" * 60,
        ace_of("\u00ad"),  # decodes to nothing that is seen
        ace_of("a\uff0eb"),  # to two labels
        ace_of("a\uff20b"),  # to another address
        ace_of("a\uff1cb"),
        ace_of("a\u3000b"),
        ace_of("\u3220"),  # to a number in brackets, which no domain is written with
        ace_of("\uff58n--bcher-kva"),  # to a punycode label once more
    ],
)
def test_a_label_that_is_no_domain_s_stays_as_it_is(label: str) -> None:
    """What decodes to nothing, to structure, or to a disguise is not decoded."""
    assert fold(f"x@{label}.example") == f"x@{label}.example"


letters = st.text(st.characters(categories=["L", "M", "N"]), min_size=1, max_size=12)


@given(letters.filter(lambda text: not text.isascii()))
def test_every_label_is_the_same_person_in_punycode(label: str) -> None:
    """Whatever is a word after folding, and short enough for a domain. Some numbers are in brackets."""
    word, ace = fold(label), ace_of(label)
    assume(len(ace) <= 63 and word and not re.search(r"[\s.]|xn--", word))
    assume("(" not in unicodedata.normalize("NFKC", label))
    assert fold(f"bob@{ace}") == fold(f"bob@{label}")


Dress = Callable[[str], str]

DRESSES: dict[str, Dress] = {
    "quotes": lambda text: f'"{text}"',
    "typographic quotes": lambda text: f"\u201e{text}\u201c",
    "brackets": lambda text: f"<{text}>",
    "blanks": lambda text: f"\t{text} ",
    "mailto": lambda text: f"mailto:{text}",
    "acct": lambda text: f"ACCT:{text}",
    "name": lambda text: f"Ann Other <{text}>",
    "quoted name": lambda text: f'"Other, Ann" <{text}>',
    "dot": lambda text: f"{text}.",
    "escape": lambda text: text.replace("@", "%40"),
    "width": lambda text: "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text),
}
OF_DOMAINS = {"dot", "escape"}


def dressed(text: str, dresses: list[str]) -> str:
    """The text in one dress over the other."""
    for dress in dresses:
        text = DRESSES[dress](text)
    return text


dots = st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8), min_size=1, max_size=3)
addresses = st.builds("{}@{}".format, dots.map(".".join), dots.map(".".join))


@given(addresses, st.lists(st.sampled_from(sorted(DRESSES)), max_size=6))
def test_an_address_is_one_person_in_every_dress(address: str, dresses: list[str]) -> None:
    """However many are put on, in whatever order."""
    assert fold(dressed(address, dresses)) == fold(address)


# A mark at the start would make another character of an opening bracket; white space and dress are no one.
ids = st.text().filter(lambda text: not {"<", ">"} & set(unicodedata.normalize("NFKC", text)) and fold(text))


@given(
    ids.filter(lambda text: not unicodedata.combining(fold(text)[0])),
    st.lists(st.sampled_from(sorted(DRESSES.keys() - OF_DOMAINS)), max_size=6),
)
def test_any_id_is_one_in_every_dress(text: str, dresses: list[str]) -> None:
    """Also one that is no address, as far as the dress fits."""
    assert fold(dressed(text, dresses)) == fold(text)


SCRAPS = ["<", ">", '"', " ", "@", ".", "%40", "%", "mailto:", "acct:", "xn--", "-kva", "bcher", "\u3002"]
MORE_SCRAPS = ["\uff1c", "\uff20", "\uff58", "\u00ad", "\u00a8", "\u0338", "\u2488", "\ufdfa", "\ud800", "a"]
hostile = st.lists(st.sampled_from([*SCRAPS, *MORE_SCRAPS]), max_size=24).map("".join) | st.text(
    st.characters(exclude_categories=[])
)


@given(hostile)
def test_folding_again_changes_nothing(text: str) -> None:
    """A folded id is its own fold, and nothing is raised, by no text: lone surrogates included."""
    assert fold(fold(text)) == fold(text)


@given(st.lists(st.sampled_from([*SCRAPS, *MORE_SCRAPS]), min_size=1, max_size=4).map("".join))
@settings(max_examples=25)
def test_a_long_hostile_text_folds_as_well(unit: str) -> None:
    """64 KiB of it still have a fold that is its own."""
    folded = fold(unit * (65_536 // len(unit)))
    assert fold(folded) == folded


@given(st.text())
def test_a_fold_is_in_composed_compatibility_form(text: str) -> None:
    """A folded id is in NFKC, lower case and trimmed, so equal folds are equal bytes."""
    folded = fold(text)
    assert unicodedata.is_normalized("NFKC", folded)
    assert fold(folded.casefold()) == folded
    assert folded.strip() == folded


@given(st.text(), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_normalisation_forms_of_an_id_are_one_person(
    text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]
) -> None:
    """However an id is composed, it names the same person."""
    assert fold(text) == fold(unicodedata.normalize(form, text))


@given(st.text())
def test_a_case_folded_spelling_is_the_same_person(text: str) -> None:
    """Case makes no second person, in no script."""
    assert fold(text) == fold(text.casefold())


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_upper_and_lower_case_are_the_same_person(text: str) -> None:
    """Nor does the shift key."""
    assert fold(text.upper()) == fold(text.lower())


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E)))
def test_a_full_width_spelling_is_the_same_person(text: str) -> None:
    """Width makes no second person."""
    assert fold(text) == fold("".join(chr(ord(char) + 0xFEE0) for char in text))


@given(st.lists(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1), min_size=1))
def test_invisible_characters_inside_make_no_second_person(parts: list[str]) -> None:
    """What can't be seen doesn't count."""
    assert fold("".join(parts)) == fold("\u200b".join(parts))


def test_different_ids_are_different_people() -> None:
    """Folding doesn't fold people together."""
    assert fold("alice") != fold("alicia")


@pytest.mark.parametrize(
    "text",
    [
        "alice@example.com",
        "svc:billing/eu-1",
        "Jane Doe",
        "\u00c5sa \u00d6berg",
        "e\u0301ric",
        "\u0430\u043b\u0435\u043a\u0441\u0435\u0439",
        "\u0431\u0456\u043b\u043b-7",
        "\u5c71\u7530\u30bf\u30ed\u30fctaro",
        "\ud64d\uae38\ub3d9 Hong",
        "\u5f35\u3105 zhang",
        "\uff21lice",
        "O\u02bcNeill",
        '"Bob" <mailto:bob@example.com>',
        "bob@xn--e1afmkfd.xn--p1ai",
        "x" * 256,
    ],
)
def test_an_honest_id_is_admitted(text: str) -> None:
    """Ids of one script, and East Asian ids with Latin in them, are admitted."""
    assert check_id(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must not be blank"),
        ('"<>"', "must not be blank"),
        ("mailto:", "must not be blank"),
        ("\u201c\u201d", "must not be blank"),
        (" \u3000", "must not be blank"),
        ("x" * 257, "must have at most 256 characters"),
        ("a\x00b", "must not contain control characters"),
        ("a\nb", "must not contain control characters"),
        ("a\x85b", "must not contain control characters"),
        ("a\u200bb", "must not contain invisible formatting characters"),
        ("a\u202eb", "must not contain invisible formatting characters"),
        ("a\u3164b", "must not contain invisible formatting characters"),  # a letter by category
        ("a\ufe0fb", "must not contain invisible formatting characters"),  # a mark by category
        ("a\U000e0062", "must not contain invisible formatting characters"),  # a tag
        ("a\ufff9b", "must not contain invisible formatting characters"),  # Cf, not default-ignorable
        ("a\u0378", "must not contain unassigned characters"),
        ("a\uffff", "must not contain unassigned characters"),
        ("a\ue000", "must not contain private-use characters"),
        ("a\ud800", "must not contain surrogates"),
        ("a\u2028b", "must not contain line separators"),
        ("a\u2029b", "must not contain paragraph separators"),
        ("\u0430lice", "must not mix letters of several scripts"),  # Cyrillic a
        ("alic\u03b5", "must not mix letters of several scripts"),  # Greek epsilon
        ("\u0440\u0430\u0443@example.com", "must not mix letters of several scripts"),
        ("\u0411\u043e\u0431 <bob@example.com>", "must not mix letters of several scripts"),
        ("\u00b5service", "must not mix letters of several scripts"),  # MICRO SIGN folds to Greek mu
        ("room \u0663", "must not mix letters of several scripts"),  # Arabic-Indic digit
        ("\u5c71\ud64d\u30ed", "must not mix letters of several scripts"),
    ],
)
def test_a_disguise_is_refused_with_its_reason(text: str, reason: str) -> None:
    """Control, invisible, unassigned and mixed-script characters are refused in plain words."""
    assert check_id(text) == reason


@given(st.text(max_size=40))
def test_an_admitted_id_stays_apart_only_by_what_is_seen(text: str) -> None:
    """An admitted id has a fold that names someone and, save its length or punycode, is admitted too."""
    if check_id(text) is None:
        folded = fold(text)
        assert folded
        assert check_id(folded) is None or len(folded) > 256 or "xn--" in text.casefold()
