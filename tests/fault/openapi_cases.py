"""Requests made from openapi.yaml: each parameter and each member of a body right, wrong, missing, doubled, null, huge, of
another type, and what nobody asked for. The same seed gives the same requests."""

import json
import random
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import yaml

from tests.fault.malformed_requests import frames
from tests.support.raw_http import Thrown, request

ROOT = Path(__file__).resolve().parents[2]
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


class Raw(str):
    """Text that goes into JSON as it is."""


# Values that are thrown at a parameter or a member of a body.
TEXTS = (
    "", " ", "0", "-1", "1", "01", "+1", "1.5", "1e400", "9007199254740993", "9223372036854775808", "9" * 400, "a" * 64, "a" * 1_500, "null", "true", "NaN", "-", "--",
    "../..", "a/b", "%", "\x00", "\r\nX: y", "\x1b[31m", "\x7f", "é", "😀", "\u202e", "a,b", ",", "a;b", "<script>", "' or 1=1 --", "InProgress", "Nonsense",
    "2026-11-20T00:00:00Z", "2026-13-40T99:99:99Z", "0000-00-00T00:00:00Z", "MTIz", "=", "*", "[]", "{}",
)
BYTES = (b"\xff", b"\xc0\xae", b"\xed\xa0\x80", b"%zz", b"%", b"%0", b"a+b", b"a&&", b"&", b"==", b"%00", b"%u0041", b"\x80abc")
JSON_VALUES = (
    Raw("null"), Raw("true"), Raw("0"), Raw("-1"), Raw("1.5"), Raw("1e400"), Raw("-1e400"), Raw("NaN"), Raw("9007199254740993"), Raw("18446744073709551616"), Raw("9" * 400),
    Raw("01"), Raw("1e5"), Raw("500.0"), Raw("[]"), Raw("{}"), Raw("[" * 40 + "]" * 40), Raw("[" * 5_000), Raw("[" + ",".join(["0"] * 12_000) + "]"), Raw('{"a":1,"a":2}'), Raw('"\\ud800"'),
    Raw('"\\u0000"'), Raw('"a\nb"'), Raw('"' + "x" * 70_000 + '"'), Raw('"' + "x" * 300 + '"'), Raw('""'), Raw('"\\x41"'), Raw('"unended'), Raw(""), Raw('"é😀\u202e"'), Raw('["a",1,null]'),
    Raw('{"' + "k" * 300 + '":"v"}'), Raw("[" + ",".join(['"job.failed"'] * 20) + "]"), Raw('"\t"'), Raw('"http://127.0.0.1:1/x"'), Raw('"file:///etc/passwd"'), Raw('"2026"'),
)
BODIES = (b"", b"null", b"[]", b"{", b"}", b"{}", b"\xef\xbb\xbf{}", b"{}{}", b"\x00", b"\xff" * 30, b'{"name"', b"name=a", b"[" * 100_000, b"x" * 262_145, b" " * 1_000, b'{"a":1,}', b"'a'")
TYPES = ("", "text/plain", "application/json; charset=utf-16", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/vnd.stepscope.frames", "APPLICATION/JSON",
         "application/jsonp", "application/json, text/html", "\xff")


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    parameters: tuple  # as in the document, references followed
    body_type: str
    example: object  # a body
    documented: dict  # for the whole path: method -> statuses


def document():
    return yaml.safe_load((ROOT / "openapi.yaml").read_text())


def operations():
    whole = document()

    def follow(node):
        while "$ref" in node:
            at = whole
            for part in node["$ref"][2:].split("/"):
                at = at[part.replace("~1", "/").replace("~0", "~")]
            node = at
        return node

    found = []
    for path, item in whole["paths"].items():
        methods = {method: item[method] for method in METHODS if method in item}
        documented = {method.upper(): frozenset(int(status) for status in said["responses"] if str(status).isdigit()) for method, said in methods.items()}
        for method, said in methods.items():
            parameters = tuple(follow(each) for each in [*item.get("parameters", ()), *said.get("parameters", ())])
            content = said.get("requestBody", {}).get("content", {})
            body_type = next(iter(content), "")
            found.append(Operation(method.upper(), path, parameters, body_type, content.get(body_type, {}).get("example"), documented))
    return found


class Members(list):
    """The [name, value] pairs of an object: a name can stand there twice."""


def dump(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Members):
        return "{" + ",".join(f"{dump(name)}:{dump(each)}" for name, each in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dump, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def tree(value):
    """A copy of an example that can be changed."""
    if isinstance(value, dict):
        return Members([name, tree(each)] for name, each in value.items())
    return [tree(each) for each in value] if isinstance(value, list) else value


def places(value):
    """(list, index) of every member and item in a tree."""
    for index, each in enumerate(value):
        yield value, index
        inner = each[1] if isinstance(value, Members) else each
        if isinstance(inner, list):
            yield from places(inner)


def put(items, index, new):
    if isinstance(items, Members):
        items[index] = [items[index][0], new]
    else:
        items[index] = new


class Maker:
    """Makes a request, changed step by step."""

    def __init__(self, dice, operation):
        self.dice, self.operation = dice, operation
        self.method, self.notes, self.headers = operation.method, [], []
        self.path = {each["name"]: quote(str(each.get("example", "1"))).encode() for each in operation.parameters if each["in"] == "path"}
        if "name" in self.path and dice.random() < 0.5:
            self.path["name"] = b"mutants"  # the job of frames(), which has samples
        self.query = [(each["name"].encode(), self.usual(each)) for each in operation.parameters if each["in"] == "query" and dice.random() < 0.3]
        self.body = tree(operation.example)
        self.raw_body = None

    @staticmethod
    def usual(parameter):
        example = parameter.get("example", parameter["schema"].get("default", "1"))
        return quote(",".join(example) if isinstance(example, list) else str(example)).encode()

    def odd(self):
        return quote(self.dice.choice(TEXTS), safe="").encode() if self.dice.random() < 0.75 else self.dice.choice(BYTES)

    def change_path(self):
        self.path[self.dice.choice(sorted(self.path))] = self.odd()

    def change_query(self):
        names = [each["name"].encode() for each in self.operation.parameters if each["in"] == "query"] + [b"nobody_asked"]
        name = self.dice.choice(names)
        self.query = [pair for pair in self.query if pair[0] != name]
        self.query += [(name, self.odd())] * self.dice.choice((1, 1, 1, 2))

    def change_body(self):
        everywhere = list(places(self.body)) if isinstance(self.body, list) else []
        if not everywhere or self.dice.random() < 0.05:
            self.body = self.dice.choice(JSON_VALUES)
            return
        items, index = self.dice.choice(everywhere)
        change = self.dice.choice(("leave out", "twice", "rename", *["put"] * 7))
        if change == "leave out":
            del items[index]
        elif change == "twice":
            items.insert(index, items[index])
        elif change == "rename" and isinstance(items, Members):
            items[index] = ["nobody_asked", items[index][1]]
        else:
            put(items, index, self.dice.choice(JSON_VALUES))

    def change_whole_body(self):
        self.raw_body = self.dice.choice(BODIES)

    def change_type(self):
        self.headers.append(("Content-Type", self.dice.choice(TYPES)))

    def change_method(self):
        self.method = self.dice.choice([method.upper() for method in METHODS if method != "head"])

    def steps(self):
        """The changes that this request can have; the likelier ones more often."""
        steps = [self.change_query] * 3 + [self.change_method]
        steps += [self.change_path] * 3 if self.path else []
        steps += [self.change_body] * 10 if self.body is not None else []
        return steps + [self.change_whole_body, self.change_type] if self.operation.body_type else steps

    def thrown(self):
        path = self.operation.path.encode()
        for name, value in self.path.items():
            path = path.replace(b"{" + name.encode() + b"}", value)
        query = b"&".join(name + b"=" + value for name, value in self.query)
        body = b""
        if self.operation.body_type:
            body = frames() if self.body is None else dump(self.body).encode("utf-8", "surrogatepass")
            self.headers = self.headers or [("Content-Type", self.operation.body_type)]
        if self.raw_body is not None:
            body = self.raw_body
        target = (path + (b"?" + query if query else b"")).decode("latin-1")
        note = f"{self.operation.method} {self.operation.path} {' '.join(self.notes)}"
        return Thrown(request(self.method, target, self.headers, body), note), self.operation.documented.get(self.method, frozenset())


def cases(count, seed):
    """`count` pairs of a request and the statuses that are documented for it, evenly over the operations."""
    dice, known, made = random.Random(f"openapi {seed}"), operations(), []
    for number in range(count):
        maker = Maker(dice, known[number % len(known)])
        for _ in range(dice.choice((0, 1, 1, 1, 1, 1, 2, 3))):
            step = dice.choice(maker.steps())
            maker.notes.append(step.__name__)
            step()
        made.append(maker.thrown())
    return made
