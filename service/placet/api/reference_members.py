"""Tables of members for the reference page: what an object of the OpenAPI document holds, row by row."""

import json
from collections.abc import Iterator, Mapping, Sequence

from placet.api.markup import Markup, code, el, inline, join, link, table
from placet.api.openapi_schemas import REFERENCE, Object

Schemas = Mapping[str, Object]


def said(schemas: Schemas, name: str) -> Markup:
    """What a caller may say: members of members are rows too, under their path."""
    rows = [
        (
            _name(el("code", el("span", above, class_="within"), member), required=required),
            typed(schemas, schema),
            join((_meaning(schemas, schema), _default(schema))),
        )
        for above, member, schema, required in _flat(schemas, name, "")
    ]
    return table(("Member", "Type", "Meaning"), rows) if rows else el("p", "It has no members.")


def answered(schemas: Schemas, name: str) -> Markup:
    """What the service says: an object inside is a type of its own."""
    always = set(schemas[name].get("required", ()))
    rows = [
        (
            code(member),
            typed(schemas, schema),
            join((_meaning(schemas, schema), "" if member in always else " Not always there.")),
        )
        for member, schema in schemas[name]["properties"].items()
    ]
    return table(("Member", "Type", "Meaning"), rows)


def parameters(schemas: Schemas, listed: Sequence[Object]) -> Markup:
    """The parameters of an operation, wherever they go."""
    rows = [
        (
            _name(code(each["name"]), required=each.get("required", False)),
            join((typed(schemas, each["schema"]), " in ", each["in"])),
            join((_meaning(schemas, {**each["schema"], **each}), _default(each["schema"]))),
        )
        for each in listed
    ]
    return table(("Parameter", "Type", "Meaning"), rows)


def typed(schemas: Schemas, schema: Object) -> Markup:
    """A schema's type in JSON's words; an object of answers is a link to its own table."""
    name = _referred(schema)
    if name is not None:
        target = schemas[name]
        if "title" in target:
            return link(target["title"], f"#{name}")
        answers = "properties" in target and "additionalProperties" not in target
        return link(name, f"#{name}") if answers else typed(schemas, target)
    if "anyOf" in schema:
        return _either([typed(schemas, option) for option in schema["anyOf"]])
    if schema.get("type") == "array":
        return join(("array of ", typed(schemas, schema["items"])))
    if schema.get("format") == "date-time":
        return join(("time (RFC 3339)", " or null" if "null" in schema["type"] else ""))
    kinds = schema.get("type", "string" if "enum" in schema or "const" in schema else "any JSON")
    return _either([kinds] if isinstance(kinds, str) else kinds)


def _either(options: Sequence[str]) -> Markup:
    first, *others = options
    return join((first, *(part for option in others for part in (" or ", option))))


def _flat(schemas: Schemas, name: str, above: str) -> Iterator[tuple[str, str, Object, bool]]:
    for member, schema in schemas[name]["properties"].items():
        yield above, member, schema, member in schemas[name].get("required", ())
        inside = _referred(schema)
        if inside is not None and "properties" in schemas[inside]:
            yield from _flat(schemas, inside, f"{above}{member}.")


def _referred(schema: Object) -> str | None:
    reference: str | None = schema.get("$ref")
    return None if reference is None else reference.removeprefix(REFERENCE)


def _name(name: Markup, *, required: bool) -> Markup:
    return join((name, " ", el("span", "required", class_="required"))) if required else name


def _default(schema: Object) -> Markup:
    """The default, but of an object whose members have rows of their own."""
    default = schema.get("default")
    if default is None or (isinstance(default, dict) and default):
        return Markup("")
    return join((" Default ", code(json.dumps(default)), "."))


def _meaning(schemas: Schemas, schema: Object) -> Markup:
    return inline(" ".join((schema.get("description", ""), *_bounds(schemas, schema))))


def _bounds(schemas: Schemas, schema: Object) -> Iterator[str]:
    """What a value must keep to, each a sentence."""
    name = _referred(schema)
    if name is not None and "enum" in schemas[name]:
        schema = schemas[name]
    if "enum" in schema:
        yield "One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + "."
    for least, most, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ):
        if most in schema:
            span = f"{schema[least]} to {schema[most]}" if least in schema else f"At most {schema[most]}"
            yield f"{span}{unit}."
    if "pattern" in schema:
        yield f"Pattern: `{schema['pattern']}`."
    if "items" in schema:
        for bound in _bounds(schemas, schema["items"]):
            yield f"Each: {bound[0].lower()}{bound[1:]}"
