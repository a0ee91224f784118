"""Hypothesis strategies for the ledger's values and for damaged bytes; shared by the tests in this folder."""

from __future__ import annotations

import copy
import datetime as dt
import json
import re
import string
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from ledger import canonical, schema
from ledger.checkpoint import Checkpoint, sign_checkpoint
from ledger.dsse import Signature
from ledger.keys import PrivateKey
from ledger.note import Note, NoteSignature
from ledger.proof import ProofBundle
from ledger.receipt import Receipt, Seal
from ledger.statement import STATEMENT_TYPE, SignedStatement, Statement

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from hypothesis.strategies import DrawFn, SearchStrategy

Schema: TypeAlias = "Mapping[str, Any]"

# A slow machine is no failure; the number of examples keeps the folder within a minute on one core.
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
PROFILE = settings(deadline=None, max_examples=60, suppress_health_check=_SLOW)
MANY = settings(PROFILE, max_examples=100)
MOST = settings(PROFILE, max_examples=350)
# A complete round is large: to make a failing one smaller would take minutes.
FEW = settings(PROFILE, max_examples=15, phases=[Phase.explicit, Phase.reuse, Phase.generate])
VERY_FEW = settings(PROFILE, max_examples=3)  # a key derivation takes a third of a second

# Values

ASCII = "\n\t" + "".join(map(chr, range(0x20, 0x7F)))
integers = st.integers(-canonical.MAX_INT, canonical.MAX_INT)
texts = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"),
    max_size=20,
)
keys = st.text(st.sampled_from(ASCII), max_size=8)
scalars = st.one_of(st.none(), st.booleans(), integers, texts)
documents: SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(keys, inner, max_size=5)),
    max_leaves=25,
)
hashes = st.binary(min_size=32, max_size=32)
sizes = st.integers(0, 10**19 - 1)
times = st.datetimes(min_value=dt.datetime(1000, 1, 1)).map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ"))  # noqa: DTZ001 - hypothesis asks for a time without a zone
names = st.text(st.characters(exclude_categories=("Z", "C"), exclude_characters="+"), min_size=1, max_size=20)
labels = st.text(string.ascii_lowercase + "-./", min_size=1, max_size=12)

# Bytes


@st.composite
def mutated(draw: DrawFn, valid: SearchStrategy[bytes]) -> bytes:
    """Valid bytes with one to three small wounds: flipped bits, spans replaced, doubled, removed or cut off."""
    raw = draw(valid)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(raw)))
        end = min(len(raw), start + draw(st.integers(0, 5)))
        wound = draw(st.sampled_from(["flip", "replace", "double", "cut", "swap"]))
        if wound == "flip" and start < len(raw):
            raw = raw[:start] + bytes([raw[start] ^ 1 << draw(st.integers(0, 7))]) + raw[start + 1 :]
        elif wound == "replace":
            raw = raw[:start] + draw(st.sampled_from(SPLINTERS) | st.binary(max_size=4)) + raw[end:]
        elif wound == "double":
            raw = raw[:end] + raw[start:]
        elif wound == "swap":
            raw = raw[:start] + raw[start:end][::-1] + raw[end:]
        else:
            raw = raw[:start] if draw(st.booleans()) else raw[start:]
    return raw


SPLINTERS = [
    *(bytes([char]) for char in b"\x00\t\n\r\x1b\x7f !\"'+,-./0129:=[]_{}~\xff"),
    *(
        b"\n\n",
        b"\r\n",
        b"==",
        b"AA==",
        b"1e5",
        b"1.0",
        b"-0",
        b"1_0",
        b"NaN",
        b"null",
        b"true",
        b"{}",
        b"[[",
        b"\\u00",
    ),
    *("٣".encode(), "é".encode(), "e\u0301".encode(), "\u2028".encode(), "\ufeff".encode(), "\u2014 ".encode()),
    *(b"\xed\xa0\x80", b'"\\ud800"', b"\\u0000", b"9007199254740992", b"18446744073709551616", b'"a":1,"a":2', b"/**/"),
]


def as_text(raw: bytes) -> str:
    """Bytes as the text they hold; what is not UTF-8 becomes lone surrogates, so no two byte strings meet."""
    return raw.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """Inverse of `as_text`."""
    return text.encode("utf-8", "surrogateescape")


# Signed things. A few keys suffice, and each costs time.

private_keys = st.binary(min_size=32, max_size=32).map(PrivateKey.from_seed)
_SIGNERS = [PrivateKey.from_seed(bytes([at]) * 32) for at in range(4)]
signers = st.sampled_from(_SIGNERS)


@st.composite
def notes(draw: DrawFn) -> Note:
    """Notes with one to four signature lines of any content."""
    lines = st.builds(
        NoteSignature,
        name=names,
        key_hash=st.binary(min_size=4, max_size=4),
        payload=st.binary(min_size=1, max_size=72),
    )
    text = draw(st.text(st.characters(exclude_categories=["Cs"], min_codepoint=32) | st.just("\n"), max_size=40))
    unique = st.lists(lines, min_size=1, max_size=4, unique_by=lambda line: (line.name, line.key_hash))
    return Note(text=text + "\n", signatures=tuple(draw(unique)))


checkpoints = st.builds(Checkpoint, origin=names, size=sizes, root=hashes)
signed_checkpoints = st.builds(sign_checkpoint, checkpoints, signers)


@st.composite
def statements(draw: DrawFn) -> Statement:
    """Statements of any kind, about anything."""
    value = {
        "_type": STATEMENT_TYPE,
        "predicate": draw(st.dictionaries(keys, documents, max_size=3)),
        "predicateType": draw(texts | labels.map("urn:rungbook:{}:v1".format)),
        "subject": draw(documents),
    }
    return Statement(raw=canonical.encode(value), value=value)


@st.composite
def signed_statements(draw: DrawFn) -> SignedStatement:
    """Statements with up to four signatures by different keys; the signatures themselves are any bytes."""
    chosen = draw(st.lists(signers, min_size=1, max_size=4, unique=True))
    keyids = sorted(key.public.keyid for key in chosen)
    sigs = [draw(st.binary(min_size=64, max_size=64)) for _ in keyids]
    return SignedStatement(
        statement=draw(statements()),
        signatures=tuple(Signature(keyid=keyid, sig=sig) for keyid, sig in zip(keyids, sigs, strict=True)),
    )


seals = st.builds(
    Seal,
    index=st.integers(0, canonical.MAX_INT),
    prev=hashes.map(bytes.hex),
    sealed_at=times,
)
receipts = st.builds(Receipt, seal=seals, signed=signed_statements())
proof_bundles = st.builds(
    ProofBundle,
    receipt=st.binary(max_size=60),
    index=sizes,
    hashes=st.lists(hashes, max_size=63).map(tuple),
    checkpoint=signed_checkpoints,
)

# Values that a JSON schema allows

_UNKNOWN = "this strategy does not know the schema keyword"
_IGNORED = {"$schema", "$id", "$defs", "title", "description"}
_PER_TYPE: dict[str, set[str]] = {
    "string": {"minLength", "maxLength", "pattern"},
    "integer": {"minimum", "maximum"},
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
    "boolean": set(),
    "null": set(),
}


@cache
def load(name: str) -> dict[str, Any]:
    """A schema file as it lies in the folder."""
    value: dict[str, Any] = json.loads((schema.FOLDER / f"{name}.json").read_bytes())
    return value


@cache
def valid_under(name: str, *, complete: bool) -> SearchStrategy[Any]:
    """Values that are valid under a schema file, as rich as it allows when `complete`.

    Args:
        name: such as ``round-input``.
        complete: give every optional member in every object.
    """
    return from_schema(load(name), complete=complete)


def from_schema(part: Schema, *, complete: bool) -> SearchStrategy[Any]:
    words = part.keys() - _IGNORED
    if "$ref" in words:
        urn, _, pointer = part["$ref"].partition("#")
        target: Any = load(urn.removeprefix("urn:rungbook:schema:").removesuffix(":v1") or "common")
        for step in pointer.split("/")[1:]:
            target = target[step]
        return from_schema(target, complete=complete)
    if "const" in words:
        return st.just(part["const"])
    if "enum" in words:
        return st.sampled_from(part["enum"])
    if "anyOf" in words:
        return st.one_of([from_schema(choice, complete=complete) for choice in part["anyOf"]])
    types = part["type"] if isinstance(part["type"], list) else [part["type"]]
    unknown = words - {"type"} - set().union(*(_PER_TYPE[each] for each in types))
    if unknown:
        raise ValueError(f"{_UNKNOWN}: {sorted(unknown)}")
    return st.one_of([_MAKERS[each](part, complete) for each in types])


def _strings(part: Schema, _: bool) -> SearchStrategy[str]:
    least, most = part.get("minLength", 0), part.get("maxLength", 1000)
    if "pattern" not in part:
        return st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=least, max_size=min(most, 12))
    # A closing `$` would let the strategy end in a newline.
    pattern = re.compile(part["pattern"].removesuffix("$"), re.ASCII)
    return st.from_regex(pattern, fullmatch=True).filter(lambda text: least <= len(text) <= most)


def _integers(part: Schema, _: bool) -> SearchStrategy[int]:
    return st.integers(part.get("minimum", -canonical.MAX_INT), part.get("maximum", canonical.MAX_INT))


def _arrays(part: Schema, complete: bool) -> SearchStrategy[list[Any]]:
    least = max(part.get("minItems", 0), 1 if complete else 0)
    items = from_schema(part["items"], complete=complete)
    return st.lists(items, min_size=least, max_size=min(part.get("maxItems", 3), max(least, 2)))


def _objects(part: Schema, complete: bool) -> SearchStrategy[dict[str, Any]]:
    members = {name: from_schema(each, complete=complete) for name, each in part.get("properties", {}).items()}
    required = {name: each for name, each in members.items() if complete or name in part.get("required", ())}
    optional = {name: each for name, each in members.items() if name not in required}
    fixed: SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(required, optional=optional)
    extra = part.get("additionalProperties", True)
    if extra is not False:
        free = st.dictionaries(keys, from_schema(extra, complete=complete), min_size=int(complete), max_size=2)
        fixed = st.tuples(fixed, free).map(lambda pair: pair[1] | pair[0])
    least, most = part.get("minProperties", 0), part.get("maxProperties", 1000)
    return fixed.filter(lambda value: least <= len(value) <= most)


_MAKERS: dict[str, Callable[[Schema, bool], SearchStrategy[Any]]] = {
    "string": _strings,
    "integer": _integers,
    "array": _arrays,
    "object": _objects,
    "boolean": lambda *_: st.booleans(),
    "null": lambda *_: st.none(),
}


_BOUNDS = st.integers(0, 3)
_DOUBTFUL = [{"uniqueItems": True}, {"format": "date"}, {"multipleOf": 2}, {"minItems": 1, "contains": {}}]
# Anchored on both sides, on one, on none; with characters that JSON escapes; with a choice outside of brackets.
_PATTERNS = [
    *("^[a-c]*$", "^[0-9a-f]{2}$", "^-?(0|[1-9][0-9]*)([.][0-9]+)?$", "^[!-*,-~]+$", "^[^a]+$", '^["a]$', "^[\\\\a]+$"),
    *("^a|b$", "a", "^a", "a$", "^.$", "^[\\s]?$", "^(a|b)c$", "^a{1,2}$", "^$", "^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$"),
]
_LIMITS: dict[str, SearchStrategy[dict[str, Any]]] = {
    "string": st.fixed_dictionaries(
        {}, optional={"minLength": _BOUNDS, "maxLength": st.integers(1, 4), "pattern": st.sampled_from(_PATTERNS)}
    ),
    "integer": st.fixed_dictionaries(
        {},
        optional={
            "minimum": st.sampled_from([-canonical.MAX_INT, -100, -1, 0, 1, 2, 10, 64]),
            "maximum": st.sampled_from([-1, 0, 1, 9, 10, 64, 99, 100, 4096, 65535, canonical.MAX_INT]),
        },
    ),
    "array": st.fixed_dictionaries({}, optional={"minItems": st.just(1), "maxItems": st.just(2)}),
    "object": st.just({}),
    "boolean": st.just({}),
    "null": st.just({}),
}
_choices: SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"const": "a"}, {"enum": ["a", "b"]}, {"const": 1}, {"enum": [True, "a"]}]
)
_columns: SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "type": st.just("array"),
        "items": st.fixed_dictionaries(
            {
                "type": st.sampled_from(["integer", ["integer", "null"]]),
                "minimum": st.sampled_from([0, 0, 0, 1]),
                "maximum": st.just(canonical.MAX_INT),
            }
        )
        | st.just({"type": "boolean"}),
    },
    optional={"maxItems": st.just(2)},
)
_closed: SearchStrategy[Any] = st.sampled_from([False])


_RECORD_LIMITS: list[dict[str, Any]] = [{}, {}, {"required": ["a"]}, {"minProperties": 1}, {"maxProperties": 2}]


@st.composite
def _records(draw: DrawFn) -> dict[str, Any]:
    """Objects of columns of integers: they have a path of their own through the compiled check."""
    columns = {name: draw(_columns) for name in draw(st.sampled_from(["ab", "abc"]))}
    limits: dict[str, Any] = draw(st.sampled_from(_RECORD_LIMITS))
    return {"type": "object", "properties": columns, "additionalProperties": False, **limits}


# Values near the bounds of those schemas, and texts that look like other JSON once they are written down.
NEAR: list[Any] = [
    *(-101, -100, -2, -1, 2, 9, 10, 11, 63, 64, 65, 98, 99, 100, 101, 649, 4095, 4096, 4097, 40961, 65535, 65536),
    *([12], [129], [649], [64, 65], [1, 99], [-12], [1, -1], [[12]], ["12"], [True, 12], [None, 12], [None], [True]),
    *(
        '"',
        "\\",
        '\\"',
        '","',
        '","a":"',
        '":1,"a":1',
        "],[",
        "},{",
        "1,2",
        "a\nb",
        "a\t",
        "é",
        'ab"',
        "abc\\",
        "\u2028",
    ),
    *(
        "\x7f",
        "\x85",
        "\x00",
        "😀",
        "😀" * 4,
        "😀" * 5,
        '"' * 4,
        '"' * 5,
        "a.b",
        "-0",
        "0.5",
        "01",
        "aa",
        "ac",
        "b",
        "c",
    ),
    *({"a": '"'}, {'"': "a"}, {'a":1,"b': 1}, {"é": 1}, {"a": 12}, {"a": [12]}, {"b": [1], "a": [1, [2]]}, {"": 1}),
]


@st.composite
def schemas(draw: DrawFn, depth: int = 2) -> dict[str, Any]:
    """Small schemas of the keywords that the compiled check knows, now and then with one that it does not."""
    simple = [_choices, _columns, _records()]
    if depth:
        simple.append(st.lists(schemas(depth - 1), min_size=1, max_size=3).map(lambda parts: {"anyOf": parts}))
    if draw(st.booleans()):
        return draw(st.one_of(simple))
    kinds = sorted(_PER_TYPE) if depth else ["boolean", "integer", "null", "string"]
    types = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique=True))
    part: dict[str, Any] = {"type": types if len(types) > 1 else types[0]}
    for each in types:
        part |= draw(_LIMITS[each])
    for least, most in (("minLength", "maxLength"), ("minimum", "maximum")):
        if part.get(least, 0) > part.get(most, canonical.MAX_INT):
            part.pop(least, None)
    if "array" in types:
        part["items"] = draw(schemas(depth - 1))
    if "object" in types:
        part["properties"] = draw(st.dictionaries(st.sampled_from("abc"), schemas(depth - 1), max_size=3))
        part["required"] = [name for name in part["properties"] if draw(st.booleans())]
        part["additionalProperties"] = draw(_closed | schemas(0))
    return part | (draw(st.sampled_from(_DOUBTFUL)) if draw(st.integers(0, 9)) == 0 else {})


def wound(value: Any, rng: random.Random) -> Any:  # noqa: ANN401 - any JSON value
    """Change one place of a JSON value: a member's type, size, name, presence or nesting. Alters its argument."""
    places = list(_places(value))
    if not places:
        return _stranger(rng)
    holder, step = rng.choice(places)
    old = holder[step]
    kind = rng.randrange(9)
    if kind == 0:
        holder[step] = _stranger(rng)
    elif kind == 1:
        del holder[step]
    elif kind == 2 and isinstance(holder, dict):
        holder[f"{step}{rng.choice(['', '_', ' ', 's'])}"] = holder.pop(step)
    elif kind == 3 and isinstance(holder, dict):
        holder[rng.choice(["extra", "", "id", "role", "é", "__proto__"])] = _stranger(rng)
    elif kind == 4 and isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), rng.choice([_stranger(rng), old]))
    else:
        holder[step] = _like(old, rng)
    return value


def _stranger(rng: random.Random) -> Any:  # noqa: ANN401 - any JSON value
    """A new one each time: a stranger that is wounded in its turn must not end up inside itself."""
    return copy.deepcopy(rng.choice(STRANGERS))


def _places(value: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - any JSON value
    found, stack = [], [value]
    while stack:
        holder = stack.pop()
        steps = holder.keys() if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for step in steps:
            found.append((holder, step))
            stack.append(holder[step])
    return found


def _like(old: Any, rng: random.Random) -> Any:  # noqa: ANN401 - any JSON value
    """Something that looks like the old value: the wounds that a careless check overlooks."""
    if isinstance(old, bool):
        return rng.choice([int(old), float(old), str(old), None, not old])
    if isinstance(old, int):
        return rng.choice(
            [float(old), bool(old), str(old), -old - 1, old + 1, 0, 2**53 - 1, 2**53, 2**64, -(2**53), old + 0.5],
        )
    if isinstance(old, str):
        return rng.choice(
            [old + "\n", "\n" + old, old + " ", old.upper(), old[:-1], old + old[-1:], "", old * 300, [old], old + "٣"],
        )
    if isinstance(old, list):
        return rng.choice([[], old * 2, [old], dict.fromkeys(map(str, range(3)), old), tuple(old), [*old, 1.0]])
    if isinstance(old, dict):
        return rng.choice([{}, [old], {**old, "x": 1}, {"x": old}, list(old), {**old, "x": float("nan")}])
    return rng.choice([0, "", "null", False, [], {}])


def _deep(levels: int) -> Any:  # noqa: ANN401 - any JSON value
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


STRANGERS: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**53, 2**64, -(2**63), 0.0, 1.0, 1e300, float("nan"), float("inf"), "", "a", "\n"),
    *("a" * 5000, "0" * 64, "SHA256:" + "A" * 43, [], {}, [[]], [{}], {"": {}}, [0.5], {"a": 0.5}, _deep(100)),
]
