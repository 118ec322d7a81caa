"""Predict the memory that a model needs, before anything is allocated.

Takes what the header and the directory say, and the engine that shall hold the model.
Gives bytes by purpose; their sum for a context length is what must be free.
Does not know how much memory there is, nor what the interpreter itself takes.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from kernels.dtypes import DType
from kernels.kv_cache import FIRST_CAPACITY_TOKENS, CacheFormat
from kernels.model_config import ModelConfig
from kernels.model_names import count_parameters
from kernels.model_shape import ModelShape, StoredShape
from kernels.numpy_ops import choose_chunk_tokens
from kernels.simd.kv_storage import FORMATS, KINDS, bytes_per_token, choose_kind, count_table_bytes
from kernels.simd.panels import kind_of
from kernels.simd.placed_model import count_weight_bytes
from kernels.simd.port import STACK_BYTES, aligned
from kernels.simd.records import Kind
from kernels.simd.scratch import FIRST_POSITIONS
from kernels.simd.workspace import count_workspace_bytes
from kernels.tokenizer_memory import count_tokenizer_bytes

OpSetName: TypeAlias = Literal["numpy", "simd"]
_F32_BYTES = 4
PAGE_BYTES = 1 << 16
FIRST_ADDRESS = PAGE_BYTES
FIRST_BYTES = 64 * PAGE_BYTES
"""Size of a shared memory as it is made."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What shall hold a model.

    Attributes:
        op_set: which operations the weights are laid out for.
        cache_format: how keys and values are kept; numpy knows float32 only.
        seats: the most threads that may share a call.
    """

    op_set: OpSetName
    cache_format: CacheFormat = "f32"
    seats: int = 1

    @property
    def is_shared(self) -> bool:
        """Whether the model lies in a memory of its own, which threads share."""
        return self.seats > 1


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Bytes by purpose.

    Attributes:
        engine: what holds the model.
        weight_bytes: numpy: `4 x parameters`, a tied output counted once; simd: panels of codes
            and scales, with the records that name them.
        tokenizer_bytes: the tables of the vocabulary.
        load_bytes: held while loading only: the largest tensor on its way.
        kv_bytes_per_token: rows of one position over all layers.
        kv_first_tokens: positions that the cache has room for at the start.
        max_context: positions at full context.
        logits_bytes: `4 V`.
        first_scratch_bytes: buffers of calls as a model is loaded.
        scratch_bytes: largest buffers of one block call at full context.
    """

    engine: Engine
    weight_bytes: int
    tokenizer_bytes: int
    load_bytes: int
    kv_bytes_per_token: int
    kv_first_tokens: int
    max_context: int
    logits_bytes: int
    first_scratch_bytes: int
    scratch_bytes: int

    @property
    def kv_bytes_first(self) -> int:
        """Bytes of the cache as it is made."""
        return self.kv_first_tokens * self.kv_bytes_per_token

    @property
    def kv_bytes_total(self) -> int:
        """Bytes of the cache at full context: the KV budget."""
        return self.max_context * self.kv_bytes_per_token

    @property
    def bytes_when_loaded(self) -> int:
        """Bytes that the loaded model holds before its first turn."""
        buffers = self.logits_bytes + self.first_scratch_bytes
        return self.weight_bytes + self.tokenizer_bytes + self.kv_bytes_first + buffers

    @property
    def interpreter_bytes(self) -> int:
        """Most bytes that loading takes in the interpreter's own memory at a time."""
        if self.engine.is_shared:
            return max(self.tokenizer_bytes, self.load_bytes)
        # The copies of loading leave holes between the weights, so they count beside all the rest.
        return self.bytes_when_loaded + self.load_bytes

    @property
    def kernel_bytes(self) -> int:
        """Size of the memory that threads share, once the model is loaded; it grows by pages."""
        if not self.engine.is_shared:
            return 0
        placed = self.bytes_when_loaded - self.tokenizer_bytes
        # The largest tensor is placed first, from a copy in the same memory.
        used = max(placed, 2 * self.load_bytes)
        return max(FIRST_BYTES, -(-(FIRST_ADDRESS + used) // PAGE_BYTES) * PAGE_BYTES)

    @property
    def bytes_to_load(self) -> int:
        """Bytes that must be free for loading, in both memories."""
        return self.interpreter_bytes + self.kernel_bytes

    def bytes_for(self, context_tokens: int) -> int:
        """Give the bytes needed to hold `context_tokens`.

        The cache doubles from its first size, so its room is the next step that fits them.
        """
        room = self.kv_first_tokens
        while room < min(context_tokens, self.max_context):
            room = min(2 * room, self.max_context)
        steady = self.kv_bytes_per_token * room + self.logits_bytes + self.scratch_bytes
        return self.weight_bytes + max(self.load_bytes, self.tokenizer_bytes + steady)


def plan_memory(shape: ModelShape, engine: Engine) -> MemoryPlan:
    """Plan the memory of one model."""
    config = shape.config
    match engine.op_set:
        case "numpy":
            needs = _plan_numpy(shape)
        case "simd":
            needs = _plan_simd(shape, engine)
        case _:
            assert_never(engine.op_set)
    return MemoryPlan(
        engine=Engine(engine.op_set, needs.cache_format, engine.seats),
        weight_bytes=needs.weight_bytes,
        tokenizer_bytes=count_tokenizer_bytes(shape.tokenizer_bytes),
        load_bytes=needs.load_bytes,
        kv_bytes_per_token=needs.kv_bytes_per_token,
        kv_first_tokens=min(FIRST_CAPACITY_TOKENS, config.max_context),
        max_context=config.max_context,
        logits_bytes=aligned(_F32_BYTES * config.vocab_size),
        first_scratch_bytes=needs.first_scratch_bytes,
        scratch_bytes=needs.scratch_bytes,
    )


@dataclass(frozen=True, slots=True)
class _Needs:
    """The numbers that differ between the op sets."""

    weight_bytes: int
    load_bytes: int
    cache_format: CacheFormat
    kv_bytes_per_token: int
    first_scratch_bytes: int
    scratch_bytes: int


def _plan_numpy(shape: ModelShape) -> _Needs:
    return _Needs(
        weight_bytes=_F32_BYTES * count_parameters(shape.config),
        load_bytes=max(map(_numpy_staging_bytes, shape.tensors)),
        cache_format="f32",
        kv_bytes_per_token=shape.config.kv_bytes_per_token,
        first_scratch_bytes=0,
        scratch_bytes=count_scratch_bytes(shape.config),
    )


def _numpy_staging_bytes(tensor: StoredShape) -> int:
    """Give what lies beside the float32 weights while they are made: a tensor as stored."""
    return 0 if tensor.dtype == DType.F32 else tensor.reading_bytes


def _plan_simd(shape: ModelShape, engine: Engine) -> _Needs:
    config = shape.config
    kind = choose_kind(config, KINDS[engine.cache_format])
    fixed = aligned(engine.seats * STACK_BYTES) + count_table_bytes(config)
    return _Needs(
        weight_bytes=count_weight_bytes(config, shape.tensors),
        load_bytes=max(map(_staging_bytes, shape.tensors)),
        cache_format=FORMATS[kind],
        kv_bytes_per_token=bytes_per_token(config, kind),
        first_scratch_bytes=fixed
        + count_workspace_bytes(config, FIRST_POSITIONS, seats=engine.seats),
        scratch_bytes=fixed + count_workspace_bytes(config, config.max_context, seats=engine.seats),
    )


def _staging_bytes(tensor: StoredShape) -> int:
    """Give what lies beside a matrix while it is placed: as stored, and maybe as float32."""
    if len(tensor.shape) == 1 or tensor.dtype == DType.F32:
        return tensor.f32_bytes
    widens = kind_of(tensor.dtype, tensor.shape[-1], tensor.block_size) == Kind.F32
    return tensor.reading_bytes + (tensor.f32_bytes if widens else 0)


def count_scratch_bytes(config: ModelConfig) -> int:
    """Count the float32 temporaries of the larger block for one chunk, and the rotary table.

    Feed-forward, T tokens: `4 T (3 H + 6 F)`: hidden, normed and result rows, gate and up, and
    four products of F on the way through SiLU. Attention at full context:
    `4 T (3 H + 2 (A + 2 K) D)` and, for one key/value head at a time, the scores `4 T (A / K) C`
    and the turned values `4 C D`. The rotary table has `4 C D` bytes.
    """
    tokens = choose_chunk_tokens(config, 0, native=False)
    late_tokens = choose_chunk_tokens(config, config.max_context, native=False)
    group = config.head_count // config.kv_head_count
    heads_width = (config.head_count + 2 * config.kv_head_count) * config.head_dim
    feed_forward = tokens * (3 * config.hidden_size + 6 * config.ffn_size)
    rows = late_tokens * (3 * config.hidden_size + 2 * heads_width)
    looking = config.max_context * (late_tokens * group + config.head_dim)
    rotary = config.max_context * config.head_dim
    return _F32_BYTES * (max(feed_forward, rows + looking) + rotary)
