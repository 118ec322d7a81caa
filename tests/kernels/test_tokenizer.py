"""Text becomes ids and text again, and no text ever becomes a control id."""

import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.bpe_section import BpeVocabulary, Merge, pack_bpe_section
from kernels.btok import BYTE_SPECIAL_IDS, pack_btok
from kernels.errors import ErrorCode, KernelError
from kernels.manifest import Manifest, parse_manifest
from kernels.tokenizer import StreamDecoder, load_tokenizer, make_well_formed
from kernels.tokenizer_section import SectionHeader, SpecialIds
from tests.kernels.slm_bytes import MODELS, open_bytes, read_fixture

TEXTS = st.text(st.characters(), max_size=60)


def make_manifest(**values):
    """Return a manifest for a vocabulary."""
    return replace(Manifest("x", "x", "x", 1, "f32"), **values)


def load_fixture(name):
    """Return the tokenizer of a committed model."""
    model = open_bytes(read_fixture(name))
    return load_tokenizer(model.tokenizer_section, model.manifest)


def make_bpe(token_bytes, merges=(), *, special=None, vocab_size=300):
    """Return a BPE1 section."""
    header = SectionHeader("BPE1", vocab_size, special or SpecialIds(290, 291, 292, 293))
    return pack_bpe_section(BpeVocabulary(header, token_bytes, list(merges)))


BYTES = load_fixture("tiny_f32.slm")
GROUPED = load_fixture("grouped_q8_0.slm")


def test_byte_tokens_are_the_utf8_bytes():
    """Notes on SLM1, section 1.7: ids 0 to 255, special ids 256 to 259."""
    assert BYTES.encode("aé") == [0x61, 0xC3, 0xA9]
    assert (BYTES.kind, BYTES.vocab_size, BYTES.special) == ("BTOK", 260, BYTE_SPECIAL_IDS)
    assert BYTES.control_ids == {"<bos>": 256, "<eos>": 257, "<pad>": 258, "<unk>": 259}


def test_byte_marks_have_no_text_but_the_unknown_one():
    """Section 1.7: BOS, EOS and PAD are skipped, UNK prints a question mark."""
    assert BYTES.decode([256, 72, 105, 259, 258, 257]) == "Hi?"
    assert BYTES.decode([256, 72], show_control=True) == "<bos>H"


def test_the_published_bpe_example_gives_one_merged_id():
    """T + h = 260, 260 + e = 261: "the" is 261."""
    tokenizer = load_fixture("tiny_bpe_f32.slm")
    assert tokenizer.encode("the") == [261]
    assert tokenizer.encode("th") == [260]
    assert tokenizer.decode([261, 120]) == "thex"


@given(text=TEXTS)
def test_decoding_the_encoding_gives_the_text(text):
    """For vocabularies that have a token for every byte; lone surrogates aside."""
    for tokenizer in (BYTES, GROUPED):
        assert tokenizer.decode(tokenizer.encode(text)) == make_well_formed(text)


@given(text=TEXTS | st.lists(st.sampled_from([*GROUPED.control_ids, "user", " "])).map("".join))
def test_no_text_becomes_a_control_id(text):
    """Not even the control token's own name."""
    assert not any(GROUPED.is_control(token_id) for token_id in GROUPED.encode(text))
    assert 1 not in GROUPED.encode("<|im_start|>" + text)


@given(ids=st.lists(st.integers(0, 309), max_size=40))
def test_a_stream_gives_the_same_text_as_all_ids_at_once(ids):
    """Also where ids end inside a character or are not UTF-8 at all."""
    stream = StreamDecoder(GROUPED)
    assert "".join(map(stream.push, ids)) + stream.finish() == GROUPED.decode(ids)


def test_a_stream_holds_back_an_incomplete_character():
    """Nothing is shown that a later byte would have to take back."""
    stream = StreamDecoder(BYTES)
    assert [stream.push(byte) for byte in "é€".encode()] == ["", "é", "", "", "€"]
    assert stream.finish() == ""
    assert [stream.push(0xE2), stream.finish()] == ["", "\ufffd"]


def test_lone_surrogates_become_replacement_characters():
    """As browsers do; a pair in two halves becomes the character it means."""
    assert make_well_formed("a\ud800b\udc00") == "a\ufffdb\ufffd"
    assert make_well_formed("\ud83d\ude00") == "\U0001f600"
    assert BYTES.decode(BYTES.encode("\ud83d\ude00\ud83d")) == "\U0001f600\ufffd"


def test_bytes_without_a_token_are_dropped():
    """As both reference engines do; the rest of the text stays."""
    tokenizer = load_tokenizer(make_bpe({1: b"a", 2: b"b"}), None)
    assert tokenizer.encode("axb") == [1, 2]


def test_without_records_for_single_bytes_ids_0_to_255_are_the_bytes():
    """The published fixture may hold records for 260 and up only; both styles are read."""
    merges = [Merge(ord("h"), ord("i"), 270, 0)]
    implicit = load_tokenizer(make_bpe({270: b"hi"}, merges), None)
    every_byte = {value: bytes([value]) for value in range(256)}
    explicit = load_tokenizer(make_bpe(every_byte | {270: b"hi"}, merges), None)
    assert implicit.encode("hi!") == explicit.encode("hi!") == [270, 33]
    assert implicit.decode([33]) == "!"


def test_control_tokens_without_a_manifest_are_what_no_merge_reaches():
    """A record of several bytes that nothing makes can only have been put there by id."""
    section = make_bpe({5: b"<|end|>", 6: b"a", 7: b"b", 8: b"ab"}, [Merge(6, 7, 8, 0)])
    tokenizer = load_tokenizer(section, None)
    assert tokenizer.control_ids["<|end|>"] == 5
    assert tokenizer.encode("<|end|>ab") == [8]


def test_special_ids_without_a_record_get_the_name_of_their_role():
    """So that each can be shown and put into a prompt."""
    control = load_tokenizer(make_bpe({1: b"a"}), None).control_ids
    assert control == {"<bos>": 290, "<eos>": 291, "<pad>": 292, "<unk>": 293}


@pytest.mark.parametrize(
    "control_tokens",
    [{"a": 1}, {"th": 260}, {"x": 300}, {"wrong text": 5}],
    ids=["a byte", "a merge", "out of range", "another text"],
)
def test_a_manifest_cannot_name_ordinary_text_a_control_token(control_tokens):
    """Otherwise encoding could give a control id."""
    tokens = {1: b"a", 2: b"t", 3: b"h", 5: b"<|end|>", 260: b"th"}
    section = make_bpe(tokens, [Merge(2, 3, 260, 0)])
    with pytest.raises(KernelError) as caught:
        load_tokenizer(section, make_manifest(control_tokens=control_tokens))
    assert caught.value.code == ErrorCode.INVALID_TOKENIZER


def test_a_special_id_that_is_a_byte_is_refused():
    """Its byte would put the mark into every text."""
    section = make_bpe({1: b"a", 2: b"b"}, special=SpecialIds(1, 299, 299, 299))
    with pytest.raises(KernelError):
        load_tokenizer(section, None)


DAMAGED = [
    # token records, merges, what is wrong
    ({1: b"a", 400: b"b"}, [], "an id out of range"),
    ({1: b"a"}, [Merge(1, 1, 9, 0)], "a merge output without a record"),
    ({1: b"a"}, [Merge(1, 9, 1, 0)], "a merge part without a record"),
    ({1: b"a", 2: b"b", 3: b"xy"}, [Merge(1, 2, 3, 0)], "a merge with other bytes"),
]


@pytest.mark.parametrize(
    ("tokens", "merges"), [case[:2] for case in DAMAGED], ids=[case[2] for case in DAMAGED]
)
def test_contradictory_records_are_refused(tokens, merges):
    """Notes on SLM1, section 1.7, the list of rejections."""
    with pytest.raises(KernelError) as caught:
        load_tokenizer(make_bpe(tokens, merges), None)
    assert caught.value.code == ErrorCode.INVALID_TOKENIZER
    assert caught.value.offset is not None


SECTION = make_bpe({1: b"a", 2: b"b"})


@pytest.mark.parametrize(
    "section",
    [
        SECTION[:-1],
        SECTION + b"\0",
        SECTION[:28] + struct.pack("<I", 0xFFFFFFFF) + SECTION[32:],
        SECTION[:32] + struct.pack("<I", 0xFFFFFFFF) + SECTION[36:],
        SECTION[:40] + struct.pack("<I", 0) + SECTION[44:],
        SECTION[:40] + struct.pack("<I", 0xFFFFFFFF) + SECTION[44:],
        SECTION[:45] + struct.pack("<I", 1) + SECTION[49:],
        SECTION[:30],
        pack_btok() + b"\0",
        pack_btok()[:12] + struct.pack("<I", 65) + pack_btok()[16:],
    ],
    ids=[
        "cut",
        "trailing byte",
        "token count",
        "merge count",
        "empty token",
        "token length",
        "duplicate id",
        "no counts",
        "byte tokenizer with more bytes",
        "byte tokenizer with a byte as mark",
    ],
)
def test_a_damaged_section_is_refused(section):
    """Bad lengths, duplicates, empty tokens and trailing bytes."""
    with pytest.raises(KernelError) as caught:
        load_tokenizer(section, None)
    assert caught.value.code == ErrorCode.INVALID_TOKENIZER


@pytest.mark.parametrize("token_id", [-1, 260, 1 << 40])
def test_an_id_outside_the_vocabulary_is_refused(token_id):
    """Decoding never guesses."""
    with pytest.raises(KernelError) as caught:
        BYTES.decode([token_id])
    assert caught.value.code == ErrorCode.INVALID_TOKEN_ID


def test_identity_covers_the_section_and_the_word_rule():
    """Equal identities encode equally; another rule is another identity."""
    plain = load_tokenizer(SECTION, None)
    ruled = load_tokenizer(SECTION, make_manifest(pre_tokenizer="smollm"))
    assert plain.identity == load_tokenizer(SECTION, None).identity
    assert plain.identity != ruled.identity
    assert plain.identity != BYTES.identity


def test_every_committed_model_has_a_manifest_that_fits_its_tokenizer():
    """The manifest beside the file names the control tokens that the file itself gives."""
    for path in MODELS.glob("*.slm"):
        manifest = parse_manifest(path.with_name(path.name + ".json").read_bytes())
        tokenizer = load_tokenizer(open_bytes(path.read_bytes()).tokenizer_section, manifest)
        assert tokenizer.control_ids == load_fixture(path.name).control_ids
