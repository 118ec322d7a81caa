"""The manifest is strict JSON that survives the round trip and says what is wrong with it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.errors import ErrorCode, KernelError
from kernels.manifest import FORMAT, ChatTemplate, Manifest, parse_manifest

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(0, 1 << 60)

FACTS = Manifest(
    name="Tiny",
    origin="a test",
    licence="CC0-1.0",
    parameters=10,
    dtype="f32",
    chat_template=ChatTemplate("chatml", "Be brief.", "<|im_start|>", "<|im_end|>"),
    control_tokens={"<|im_start|>": 1},
)


def values_of(manifest=FACTS):
    """Return the manifest as plain data."""
    return json.loads(manifest.to_json())


@given(
    text=TEXTS,
    number=NUMBERS,
    kind=st.sampled_from(["chatml", "plain"]),
    rule=st.sampled_from(["smollm", "none"]),
    tokens=st.dictionaries(TEXTS, NUMBERS, max_size=4),
    sha256=st.none() | TEXTS,
)
def test_a_manifest_survives_json(text, number, kind, rule, tokens, sha256):
    """parse(to_json(m)) is m, and the text is the same again."""
    manifest = Manifest(
        name=text,
        origin=text,
        licence=text,
        parameters=number,
        dtype="q8_0",
        pre_tokenizer=rule,
        chat_template=ChatTemplate(kind, text, text, text),
        control_tokens=tokens,
        sha256=sha256,
    )
    assert parse_manifest(manifest.to_json()) == manifest
    assert parse_manifest(manifest.to_json().encode()).to_json() == manifest.to_json()


def test_json_is_canonical():
    """Sorted keys and no spaces, so that equal manifests are equal bytes."""
    text = FACTS.to_json()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    assert "sha256" not in values_of()


def test_the_manifest_beside_the_file_adds_its_hash_and_size():
    """Inside the file they cannot be known."""
    beside = FACTS.beside("ab" * 32, 20352)
    assert (beside.sha256, beside.file_bytes) == ("ab" * 32, 20352)
    assert values_of(beside).items() > values_of().items()


@pytest.mark.parametrize("key", sorted(values_of()))
def test_every_key_is_needed(key):
    """A missing key is named."""
    values = values_of()
    del values[key]
    with pytest.raises(KernelError) as caught:
        parse_manifest(json.dumps(values))
    assert (caught.value.code, caught.value.field) == (
        ErrorCode.INVALID_MANIFEST,
        f"manifest.{key}",
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "tinyloom-manifest/2"),
        ("name", 3),
        ("name", "\ud800"),
        ("parameters", "3"),
        ("parameters", True),
        ("parameters", -1),
        ("parameters", 1.5),
        ("pre_tokenizer", "llama"),
        ("chat_template", None),
        ("chat_template", {}),
        ("control_tokens", []),
        ("control_tokens", {"x": "1"}),
        ("sha256", 5),
        ("file_bytes", None),
        ("surprise", 1),
    ],
)
def test_a_wrong_value_is_refused(key, value):
    """No coercion, no unknown key."""
    with pytest.raises(KernelError) as caught:
        parse_manifest(json.dumps(values_of() | {key: value}))
    assert caught.value.code == ErrorCode.INVALID_MANIFEST


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"name":NaN}',
        '{"name":"a","name":"b"}',
        b"\xff\xfe",
        "[" * 100_000,
        '{"parameters":' + "9" * 5000 + "}",
    ],
    ids=["empty", "list", "cut", "NaN", "twice", "not UTF-8", "deep", "long number"],
)
def test_text_that_is_not_a_strict_json_object_is_refused(text):
    """Nesting and numbers without end included."""
    with pytest.raises(KernelError) as caught:
        parse_manifest(text, offset=64)
    assert (caught.value.code, caught.value.offset) == (ErrorCode.INVALID_MANIFEST, 64)


def test_the_format_is_named_with_its_version():
    """A later version gets another name, and older readers say so."""
    assert values_of()["format"] == FORMAT == "tinyloom-manifest/1"
