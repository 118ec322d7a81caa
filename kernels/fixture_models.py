"""Small models with random weights, made from seeds alone.

Takes a folder. Gives `.slm` files with their manifests beside them and a list of their hashes.
The bytes are the same on every machine: weights come from the integers of PCG64 by exact steps,
never from library functions whose last digit may differ. Does not know tests.

The tiny models have the shape of the public runtime's fixtures (8 wide, one layer, 16 tokens of
context; 4,824 parameters in 20,352 bytes, tied 2,744 in 11,968), so they carry no trailer, and
their quantised forms store the norms as one quantised row, as the published sizes show.
The grouped models have what these lack: shared key/value heads, two layers, a chat template,
control tokens, merges, scales for blocks within a row, and the manifest inside the file.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.arrays import F32
from kernels.bpe_section import BpeVocabulary, Merge, pack_bpe_section
from kernels.btok import BYTE_SPECIAL_IDS, BYTE_VOCABULARY, pack_btok
from kernels.byte_source import ByteSink, FileSink, HashingSink
from kernels.dtypes import MINIMUM_BLOCK, DType
from kernels.manifest import ChatTemplate, Manifest
from kernels.model_config import ModelConfig
from kernels.model_names import count_parameters, tensor_shapes
from kernels.model_source import ArrayRows
from kernels.slm_plan import TensorPlan
from kernels.slm_writer import write_model
from kernels.tokenizer_section import SectionHeader, SpecialIds

CHECKSUM_LIST = "checksums.json"
NIBBLE_BLOCK = 8
GROUPED_BLOCK = 16
CONTROL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MERGED_TEXTS = (
    *("th", "the", " the", "in", "ing", "er", "an", "and", " and", "on", "re", "at", " a", " t"),
    *("ou", "you", " you", "en", "ent", "is", " is", "it", "or", "ar", "ro", " s", " w", "es"),
    *("ha", "hat", " that", "st", "us", "user", "as", "ass", "ist", "assist", "ant", "sy", "em"),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """One model to be made."""

    file: str
    title: str
    seed: int
    config: ModelConfig
    section: bytes
    dtype: DType
    block_size: int | None = None  # None: the row
    is_grouped: bool = False


def write_fixtures(folder: Path) -> dict[str, str]:
    """Write all models, their manifests and `checksums.json`; return file name to SHA-256."""
    folder.mkdir(parents=True, exist_ok=True)
    hashes: dict[str, str] = {}
    for recipe in list_recipes():
        with FileSink(folder / recipe.file) as sink:
            manifest = _write_recipe(sink, recipe)
        text = (manifest.to_json() + "\n").encode()
        (folder / f"{recipe.file}.json").write_bytes(text)
        hashes[recipe.file] = manifest.sha256 or ""
        hashes[f"{recipe.file}.json"] = hashlib.sha256(text).hexdigest()
    (folder / CHECKSUM_LIST).write_text(json.dumps(hashes, indent=2, sort_keys=True) + "\n")
    return hashes


def write_fixture(name: str, sink: ByteSink) -> Manifest:
    """Write the model with this file name; return its manifest."""
    (recipe,) = (recipe for recipe in list_recipes() if recipe.file == name)
    return _write_recipe(sink, recipe)


def list_recipes() -> list[Recipe]:
    """Return what is made, in a fixed order."""
    untied, tied = _tiny_config(BYTE_VOCABULARY), _tiny_config(BYTE_VOCABULARY, tied_output=True)
    letters, letters_bpe = pack_btok(), _pack_tiny_bpe()
    words, words_count = _pack_grouped_bpe()
    grouped = _grouped_config(words_count)
    return [
        Recipe("tiny_f32.slm", "Tiny f32", 1, untied, letters, DType.F32),
        Recipe("tiny_tied_f32.slm", "Tiny tied f32", 2, tied, letters, DType.F32),
        Recipe("tiny_q8_0.slm", "Tiny q8_0", 1, untied, letters, DType.Q8_0),
        Recipe("tiny_q4_0.slm", "Tiny q4_0", 1, untied, letters, DType.Q4_0, NIBBLE_BLOCK),
        Recipe("tiny_bpe_f32.slm", "Tiny BPE f32", 3, _tiny_config(262), letters_bpe, DType.F32),
        Recipe("grouped_f32.slm", "Grouped f32", 4, grouped, words, DType.F32, is_grouped=True),
        Recipe(
            file="grouped_q8_0.slm",
            title="Grouped q8_0",
            seed=4,
            config=grouped,
            section=words,
            dtype=DType.Q8_0,
            block_size=GROUPED_BLOCK,
            is_grouped=True,
        ),
        Recipe(
            file="grouped_q4_1.slm",
            title="Grouped q4_1",
            seed=4,
            config=grouped,
            section=words,
            dtype=DType.Q4_1,
            block_size=MINIMUM_BLOCK,
            is_grouped=True,
        ),
    ]


def make_weights(config: ModelConfig, seed: int) -> dict[str, F32]:
    """Return all tensors: matrices uniform in +-sqrt(3 / columns), norms in 1 +- 1/8.

    A uniform number is (top 24 bits of a PCG64 integer) / 2**23 - 1, exact in float32.
    """
    bits = np.random.PCG64(seed)
    weights = {}
    for name, shape in tensor_shapes(config):
        raw = np.asarray(bits.random_raw(math.prod(shape)), dtype=np.uint64) >> np.uint64(40)
        uniform = raw.astype(np.float32) / np.float32(1 << 23) - np.float32(1)
        if len(shape) == 1:
            values = np.float32(1) + uniform * np.float32(0.125)
        else:
            values = uniform * np.float32(math.sqrt(3 / shape[-1]))
        weights[name] = values.reshape(shape)
    return weights


def _write_recipe(sink: ByteSink, recipe: Recipe) -> Manifest:
    manifest = _make_manifest(recipe)
    plans = [
        _plan(recipe, name, weights)
        for name, weights in make_weights(recipe.config, recipe.seed).items()
    ]
    hashing = HashingSink(sink)
    embedded = manifest if recipe.is_grouped else None
    write_model(hashing, recipe.config, recipe.section, plans, embedded)
    return manifest.beside(hashing.sha256, hashing.length_bytes)


def _plan(recipe: Recipe, name: str, weights: F32) -> TensorPlan:
    is_plain = recipe.dtype == DType.F32 or (recipe.is_grouped and weights.ndim == 1)
    if is_plain:
        return TensorPlan(name, DType.F32, 0, ArrayRows(weights))
    block_size = recipe.block_size or weights.shape[-1]
    return TensorPlan(name, recipe.dtype, block_size, ArrayRows(weights))


def _make_manifest(recipe: Recipe) -> Manifest:
    chatml = ChatTemplate("chatml", "Answer briefly.", CONTROL_TOKENS[1], CONTROL_TOKENS[2])
    special = BYTE_SPECIAL_IDS
    named = {"<bos>": special.bos, "<eos>": special.eos, "<pad>": special.pad, "<unk>": special.unk}
    return Manifest(
        name=f"{recipe.title} fixture",
        origin=f"random weights from seed {recipe.seed}, made by kernels.fixture_models",
        licence="CC0-1.0",
        parameters=count_parameters(recipe.config),
        dtype=recipe.dtype.label,
        pre_tokenizer="smollm" if recipe.is_grouped else "none",
        chat_template=chatml if recipe.is_grouped else ChatTemplate(),
        control_tokens=(
            {text: index for index, text in enumerate(CONTROL_TOKENS)}
            if recipe.is_grouped
            else named
        ),
    )


def _tiny_config(vocab_size: int, *, tied_output: bool = False) -> ModelConfig:
    return ModelConfig(
        vocab_size=vocab_size,
        special_token_count=4,
        hidden_size=8,
        layer_count=1,
        head_count=2,
        kv_head_count=2,
        head_dim=4,
        ffn_size=16,
        max_context=16,
        rope_theta=10000.0,
        rms_norm_epsilon=1e-5,
        tied_output=tied_output,
    )


def _grouped_config(vocab_size: int) -> ModelConfig:
    return ModelConfig(
        vocab_size=vocab_size,
        special_token_count=len(CONTROL_TOKENS),
        hidden_size=32,
        layer_count=2,
        head_count=4,
        kv_head_count=2,
        head_dim=8,
        ffn_size=64,
        max_context=128,
        rope_theta=10000.0,
        rms_norm_epsilon=1e-5,
        tied_output=True,
    )


def _pack_tiny_bpe() -> bytes:
    """Return the public BPE example: t + h = 260, 260 + e = 261, so "the" is 261."""
    header = SectionHeader("BPE1", 262, BYTE_SPECIAL_IDS)
    merges = [Merge(ord("t"), ord("h"), 260, 0), Merge(260, ord("e"), 261, 1)]
    return pack_bpe_section(BpeVocabulary(header, {260: b"th", 261: b"the"}, merges))


def _pack_grouped_bpe() -> tuple[bytes, int]:
    """Return a section with three control tokens, all bytes and some merges, and its size."""
    ids = {bytes([value]): len(CONTROL_TOKENS) + value for value in range(256)}
    merges: list[Merge] = []
    for text in MERGED_TEXTS:
        parts = [bytes([value]) for value in text.encode()]
        while len(parts) > 1:
            joined = parts[0] + parts[1]
            if joined not in ids:
                ids[joined] = len(CONTROL_TOKENS) + len(ids)
                merges.append(Merge(ids[parts[0]], ids[parts[1]], ids[joined], len(merges)))
            parts[:2] = [joined]
    token_bytes = {index: text.encode() for index, text in enumerate(CONTROL_TOKENS)}
    token_bytes |= {token_id: raw for raw, token_id in ids.items()}
    header = SectionHeader("BPE1", len(token_bytes), SpecialIds(bos=1, eos=2, pad=2, unk=0))
    return pack_bpe_section(BpeVocabulary(header, token_bytes, merges)), len(token_bytes)
