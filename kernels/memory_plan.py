"""Predict the memory that a model needs, before anything is allocated.

Takes the header's shape, the bytes of the stored tensors, and the op set's name.
Gives bytes by purpose; their sum for a context length is what must be free.
Does not know how much memory there is, nor what the interpreter itself takes.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from kernels.kv_cache import FIRST_CAPACITY_TOKENS
from kernels.model_config import ModelConfig
from kernels.model_names import count_parameters
from kernels.numpy_ops import choose_chunk_tokens
from kernels.simd.workspace import count_workspace_bytes

OpSetName: TypeAlias = Literal["numpy", "simd"]
_F32_BYTES = 4


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Bytes by purpose.

    Attributes:
        op_set: which operations the weights are laid out for.
        weight_bytes: numpy: `4 x parameters`, a tied output counted once; simd: payloads and
            scales as stored.
        load_bytes: held while loading only: the largest tensor as stored.
        kv_bytes_per_token: `2 L K D x 4`.
        kv_first_tokens: positions that the cache has room for at the start.
        max_context: positions at full context.
        logits_bytes: `4 V`.
        scratch_bytes: largest temporary arrays of one block call at full context, see
            `count_scratch_bytes` and `count_workspace_bytes`.
    """

    op_set: OpSetName
    weight_bytes: int
    load_bytes: int
    kv_bytes_per_token: int
    kv_first_tokens: int
    max_context: int
    logits_bytes: int
    scratch_bytes: int

    @property
    def kv_bytes_first(self) -> int:
        """Bytes of the cache as it is made."""
        return self.kv_first_tokens * self.kv_bytes_per_token

    @property
    def kv_bytes_total(self) -> int:
        """Bytes of the cache at full context: the KV budget."""
        return self.max_context * self.kv_bytes_per_token

    def bytes_for(self, context_tokens: int) -> int:
        """Give the bytes needed to hold `context_tokens`.

        The cache doubles from its first size, so its room is the next step that fits them.
        """
        room = self.kv_first_tokens
        while room < min(context_tokens, self.max_context):
            room = min(2 * room, self.max_context)
        steady = self.kv_bytes_per_token * room + self.logits_bytes + self.scratch_bytes
        return self.weight_bytes + max(self.load_bytes, steady)


def plan_memory(
    config: ModelConfig, op_set: OpSetName, *, stored_bytes: int, largest_tensor_bytes: int
) -> MemoryPlan:
    """Plan the memory of one model.

    Args:
        config: shape from the header.
        op_set: which operations will hold the weights.
        stored_bytes: payloads and scales of all tensors in the directory.
        largest_tensor_bytes: payload and scales of the largest of them.
    """
    match op_set:
        case "numpy":
            weight_bytes = _F32_BYTES * count_parameters(config)
            scratch_bytes = count_scratch_bytes(config)
        case "simd":
            weight_bytes = stored_bytes
            scratch_bytes = count_workspace_bytes(config, config.max_context)
        case _:
            assert_never(op_set)
    return MemoryPlan(
        op_set=op_set,
        weight_bytes=weight_bytes,
        load_bytes=largest_tensor_bytes,
        kv_bytes_per_token=config.kv_bytes_per_token,
        kv_first_tokens=min(FIRST_CAPACITY_TOKENS, config.max_context),
        max_context=config.max_context,
        logits_bytes=_F32_BYTES * config.vocab_size,
        scratch_bytes=scratch_bytes,
    )


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
