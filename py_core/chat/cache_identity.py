"""What keys and values depend on: rows of another identity are never used.

Takes the loaded model and the plan of a turn, gives a value with a hash; together with token ids it
names rows. Does not know where rows are kept.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from kernels.engine_identity import name_engine
from kernels.kv_cache import CacheFormat
from py_core.chat.loaded_model import LoadedModel
from py_core.compiler.plan import Plan
from py_core.identity import content_hash


@dataclass(frozen=True, slots=True)
class CacheIdentity:
    """Everything but the ids that decides the rows, and the policy that chose the ids.

    Attributes:
        model: sha256 of the file.
        tokenizer: identity of the tokenizer.
        policy: identity of the compiler's policy.
        cache_format: how keys and values are kept.
        op_set: which operations compute them.
        engine: the build of those operations.
    """

    model: str
    tokenizer: str
    policy: str
    cache_format: CacheFormat
    op_set: str
    engine: str

    @property
    def hash(self) -> str:
        """One hash of it all."""
        return content_hash(asdict(self))

    def key_of(self, ids: Sequence[int]) -> str:
        """Name the rows of these ids."""
        return content_hash({"identity": self.hash, "ids": list(ids)})


def identify_cache(model: LoadedModel, plan: Plan) -> CacheIdentity:
    """Say what the rows of this turn depend on."""
    return CacheIdentity(
        model=model.facts.sha256,
        tokenizer=plan.tokenizer_identity,
        policy=plan.policy_identity,
        cache_format=model.cache.storage.format,
        op_set=model.ops.name,
        engine=name_engine(model.ops.name),
    )
