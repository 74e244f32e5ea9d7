"""The OpenAPI document as a page of its own: no script, nothing from another host."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape

STYLE = """
:root { color-scheme: light dark; }
body { max-width: 54rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h2 { margin-top: 2.5rem; font-size: 1.1rem; border-top: 1px solid; padding-top: 1rem; }
h3 { font-size: 1rem; margin-bottom: .25rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid; border-radius: .25rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .2rem .75rem .2rem 0; }
"""
_EXAMPLE_ADDRESS = "http://127.0.0.1:8000"


def reference_page(document: Mapping, *, style: str) -> str:
    """Return the HTML of an OpenAPI document: every address with what it takes and gives, then the models.

    Args:
        document: the OpenAPI document.
        style: the address of the style sheet.
    """
    title = escape(f"{document['info']['title']} {document['info']['version']}: the API")
    body = "\n".join(_body(document))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="stylesheet" href="{escape(style)}">\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n'
        f'<p>The same for programs: <a href="/openapi.json">openapi.json</a>.</p>\n{body}\n</main>\n</body>\n</html>\n'
    )


def _body(document: Mapping) -> Iterator[str]:
    for address, operations in document["paths"].items():
        for method, operation in operations.items():
            yield from _operation(document, method.upper(), address, operation)
    for name, schema in document["components"]["schemas"].items():
        yield f'<h2 id="{escape(name)}">{escape(name)}</h2>\n<p>{escape(schema.get("description", ""))}</p>'
        yield from _fields(schema)


def _operation(document: Mapping, method: str, address: str, operation: Mapping) -> Iterator[str]:
    yield f"<h2><code>{method} {escape(address)}</code></h2>\n<p>{escape(operation.get('description', ''))}</p>"
    parameters = [
        (parameter["name"], parameter["schema"], parameter.get("required", False), parameter.get("description", ""))
        for parameter in operation.get("parameters", ())
    ]
    if parameters:
        yield _table(parameters)
    body = operation.get("requestBody")
    if body is not None:
        schema = body["content"]["application/json"]["schema"]
        yield f"<p>Takes {_type(schema)}:</p>"
        example = json.dumps(_example(document, schema), ensure_ascii=False)
        yield (
            f"<pre>curl -X {method} {_EXAMPLE_ADDRESS}{escape(address)} "
            f"-H 'Content-Type: application/json' -d '{escape(example)}'</pre>"
        )
    yield "<h3>Answers</h3>\n<table>"
    for status, response in operation["responses"].items():
        gives = ", ".join(_type(content["schema"]) for content in response.get("content", {}).values())
        yield f"<tr><td>{status}</td><td>{gives}</td><td>{escape(response['description'])}</td></tr>"
    yield "</table>"


def _fields(schema: Mapping) -> Iterator[str]:
    needed = schema.get("required", ())
    fields = [
        (name, field, name in needed, field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]
    if fields:
        yield _table(fields)


def _table(rows: list[tuple[str, Mapping, bool, str]]) -> str:
    lines = [
        f"<tr><td><code>{escape(name)}</code></td><td>{_type(schema)}</td>"
        f"<td>{'needed' if needed else _default(schema)}</td><td>{escape(text)}</td></tr>"
        for name, schema, needed, text in rows
    ]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _type(schema: Mapping) -> str:
    """Return what a schema admits, in HTML: a link for a model, "string", "string or null", "list of ..."."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if "enum" in schema:
        return " or ".join(f"<code>{escape(json.dumps(value))}</code>" for value in schema["enum"])
    return escape(str(schema.get("type", json.dumps(schema.get("const", "anything")))))


def _default(schema: Mapping) -> str:
    return f"default {escape(json.dumps(schema['default']))}" if "default" in schema else ""


def _example(document: Mapping, schema: Mapping) -> object:
    """Return the smallest value that fits a schema, with its own example where it has one."""
    if "$ref" in schema:
        return _example(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "examples" in schema:
        return schema["examples"][0]
    if schema.get("type") == "object":
        needed = schema.get("required", ())
        return {name: _example(document, schema["properties"][name]) for name in needed}
    return {"string": "...", "integer": 1, "boolean": True}.get(schema.get("type"))
