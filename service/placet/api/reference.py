"""The reference page: the OpenAPI document, laid out for somebody who is about to call."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from placet.api.markup import Markup, code, el, inline, join, json_block, link, page, prose, table
from placet.api.openapi import document
from placet.api.openapi_schemas import REFERENCE, Object
from placet.api.reference_members import answered, parameters, said, typed
from placet.domain.errors import TABLE

_JSON = "application/json"
_PROBLEM = "application/problem+json"
_BEARERS = frozenset({"client", "approver"})
_CODES = {code: f"/errors/{code}" for code in TABLE}
"""Where each error code is explained."""


class Reference:
    """One OpenAPI document as a page."""

    def __init__(self, described: Object) -> None:
        self._document = described
        self._schemas: dict[str, Object] = described["components"]["schemas"]

    def page(self) -> str:
        """The whole page."""
        tags = [tag for tag in self._document["tags"] if any(self._under(tag))]
        return page(
            "API reference",
            el("h1", "API reference"),
            prose(self._document["info"]["description"], _CODES),
            el("p", "As a document for machines: ", link("/openapi.json", "/openapi.json"), "."),
            self._credentials(),
            *(self._group(tag) for tag in tags),
            self._types(),
            navigation=self._navigation(tags),
        )

    def _under(self, tag: Object) -> Iterator[tuple[str, str, Object]]:
        for path, item in self._document["paths"].items():
            for method, operation in item.items():
                if operation["tags"] == [tag["name"]]:
                    yield method.upper(), path, operation

    def _navigation(self, tags: list[Object]) -> Markup:
        targets = {
            tag["name"]: [
                (operation["summary"], f"#{operation['operationId']}") for _, _, operation in self._under(tag)
            ]
            for tag in tags
        }
        targets["More"] = [("Credentials", "#credentials"), ("Types", "#types"), ("Errors", "/errors")]
        groups = (
            el("div", el("p", name), el("ul", *(el("li", link(*target)) for target in group)))
            for name, group in targets.items()
        )
        menu = el("details", el("summary", "Operations"), el("div", *groups, class_="menu"))
        return el("nav", menu, aria_label="Operations")

    def _credentials(self) -> Markup:
        schemes = self._document["components"]["securitySchemes"]
        rows = ((name, inline(scheme["description"])) for name, scheme in schemes.items())
        how = (
            "Calls under `/v1` carry `Authorization: Bearer` with a credential, and nothing else counts."
            " Callbacks carry a signature instead."
        )
        return el(
            "section",
            el("h2", "Credentials"),
            el("p", inline(how)),
            table(("Kind", "Credential"), rows),
            id="credentials",
        )

    def _group(self, tag: Object) -> Markup:
        operations = [self._operation(*each) for each in self._under(tag)]
        return el("section", el("h2", tag["name"]), el("p", tag["description"]), *operations)

    def _operation(self, method: str, path: str, operation: Object) -> Markup:
        listed = [self._resolved(each) for each in operation["parameters"]]
        words = [
            el("h3", operation["summary"]),
            el("p", el("span", method, class_=f"method {method.lower()}"), " ", path, class_="call"),
            prose(operation["description"], _CODES),
        ]
        if listed:
            words += [el("h4", "Parameters"), parameters(self._schemas, listed)]
        if _JSON in operation.get("requestBody", {}).get("content", {}):
            schema = operation["requestBody"]["content"][_JSON]["schema"]
            words += [
                el("h4", "Body"),
                el("p", operation["requestBody"]["description"], class_="quiet"),
                said(self._schemas, schema["$ref"].removeprefix(REFERENCE)),
            ]
        words += [el("h4", "Answers"), self._answers(operation)]
        return el(
            "section",
            el("div", *words),
            el("div", *self._examples(method, path, operation, listed), class_="example"),
            class_="operation",
            id=operation["operationId"],
        )

    def _answers(self, operation: Object) -> Markup:
        rows: list[tuple[str, str]] = []
        for status, reference in operation["responses"].items():
            response = self._resolved(reference)
            for media_type, held in response["content"].items():
                if media_type != _PROBLEM:
                    told = (response["description"], " ", self._shape(media_type, held["schema"]))
                    rows.append((_status(status), join(told)))
                    continue
                for problem in self._values(held):
                    told = (link(problem["code"], _CODES[problem["code"]]), " ", _case(problem))
                    rows.append((_status(status, refused=True), join(told)))
        return table(("Status", "What it says"), rows)

    def _shape(self, media_type: str, schema: Object) -> Markup:
        shape = typed(self._schemas, schema) if "$ref" in schema else code(media_type)
        return el("span", shape, class_="quiet")

    def _examples(self, method: str, path: str, operation: Object, listed: list[Object]) -> Iterator[Markup]:
        content = operation.get("requestBody", {}).get("content", {_JSON: {}})
        bodies = list(content.get(_JSON, {}).get("examples", {}).values())
        yield el("h4", "Example")
        yield el("pre", code(_curl(method, path, operation, listed, bodies)))
        for body in bodies[1:]:
            yield el("details", el("summary", "Body: ", body["summary"]), json_block(body["value"]))
        for status, response in operation["responses"].items():
            for media_type, held in self._resolved(response)["content"].items():
                if media_type == _PROBLEM:
                    continue
                for example in held.get("examples", {}).values():
                    summary = el("summary", _status(status), example["summary"])
                    yield el("details", summary, json_block(example["value"]))

    def _types(self) -> Markup:
        """Everything that has a name; what callers say stands with the operations."""
        types = [
            el(
                "section",
                el("h3", schema.get("title", name)),
                prose(schema["description"]),
                answered(self._schemas, name) if "properties" in schema else "",
                class_="type",
                id=name,
            )
            for name, schema in self._schemas.items()
            if ("properties" in schema and "additionalProperties" not in schema) or "title" in schema
        ]
        return el("section", el("h2", "Types"), *types, id="types")

    def _values(self, held: Object) -> Iterator[Object]:
        for example in held["examples"].values():
            yield self._resolved(example)["value"]

    def _resolved(self, part: Object) -> Object:
        """The part itself, or what it refers to."""
        if "$ref" not in part:
            return part
        found: Any = self._document
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        resolved: Object = found
        return resolved


@cache
def render() -> str:
    """The page of this service's document; kept, since anybody may ask for it and it takes 20 ms to write."""
    return Reference(document(None)).page()


def _status(status: str, *, refused: bool = False) -> Markup:
    return el("span", status, class_="status refused" if refused else "status")


def _case(problem: Object) -> Markup:
    """What a refusal is about, in a few words."""
    reason = problem.get("details", {}).get("reason")
    return join((problem["title"], *(("; ", code(reason)) if reason else ()), "."))


def _curl(method: str, path: str, operation: Object, listed: list[Object], bodies: list[Object]) -> str:
    """The call as a command line, with the first of the bodies."""
    shown = {each["name"]: str(each["example"]) for each in listed if "example" in each}
    places = {each["name"]: each["in"] for each in listed}
    query = "&".join(f"{name}={value}" for name, value in shown.items() if places[name] == "query")
    for name, value in shown.items():
        path = path.replace(f"{{{name}}}", value)
    target = f"$PLACET_URL{path}?{query}" if query else f"$PLACET_URL{path}"
    lines = [f'curl "{target}"' if method == "GET" else f'curl -X {method} "{target}"']
    signed = [each["name"] for each in listed if each["in"] == "header" and each.get("required")]
    lines += [f'-H "{name}: {shown[name]}"' for name in signed]
    if any(_BEARERS.intersection(each) for each in operation["security"]):
        lines.append('-H "Authorization: Bearer $PLACET_TOKEN"')
    if "Idempotency-Key" in shown:
        lines.append(f'-H "Idempotency-Key: {shown["Idempotency-Key"]}"')
    for body in bodies[:1]:
        text = json.dumps(body["value"], indent=2, ensure_ascii=False).replace("'", "'\\''")
        lines += ['-H "Content-Type: application/json"', f"-d '{text}'"]
    return " \\\n  ".join(lines)
