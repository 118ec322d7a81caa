"""One model that is ready to answer, and the facts of its file.

Takes an open file and an op set that holds its weights; gives decoder, cache, token counter,
template, stop ids and facts. Every fact is read from the header, the tensor directory or the
manifest; what none of them says is reported as not stated. Does not know how loading went.
"""

from dataclasses import dataclass, field

from kernels.decoder import Decoder
from kernels.kv_cache import KvCache
from kernels.manifest import Manifest
from kernels.ops import OpSet
from kernels.slm_file import ChecksumVerdict, SlmFile
from kernels.tokenizer import Tokenizer, load_tokenizer
from py_core.chat.cache_reading import CacheReading
from py_core.chat.token_counter import ModelTokenCounter
from py_core.compiler.request import PromptTemplate

NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class FileOrigin:
    """What the shell knows of the file: the name it was picked by, its size and its hash.

    Attributes:
        known_checksum: what an earlier load of the file with this hash found its checksum to be.
    """

    name: str
    file_bytes: int
    sha256: str
    known_checksum: ChecksumVerdict | None = None


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the file says."""

    name: str
    context_tokens: int
    file_bytes: int
    parameters: int
    dtype: str
    sha256: str
    checksum: ChecksumVerdict
    licence: str
    origin: str


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """Everything that one turn needs of a model."""

    facts: FileFacts
    decoder: Decoder
    ops: OpSet
    cache: KvCache
    tokenizer: Tokenizer
    counter: ModelTokenCounter
    template: PromptTemplate
    stop_ids: frozenset[int]
    reading: CacheReading = field(default_factory=CacheReading)

    def forget_context(self) -> int:
        """Empty the cache; give how many tokens it held."""
        count = self.cache.length
        self.cache.truncate(0)
        return count


def assemble_model(file: SlmFile, ops: OpSet, origin: FileOrigin) -> LoadedModel:
    """Put the parts together once the op set holds the weights."""
    tokenizer = load_tokenizer(file.tokenizer_section, file.manifest)
    decoder = Decoder(file.config, ops)
    template = read_template(file.manifest)
    return LoadedModel(
        facts=_read_facts(file, origin),
        decoder=decoder,
        ops=ops,
        cache=decoder.new_cache(),
        tokenizer=tokenizer,
        counter=ModelTokenCounter(tokenizer, cuts_words=cuts_words(tokenizer, file.manifest)),
        template=template,
        stop_ids=choose_stop_ids(tokenizer, template),
    )


def _read_facts(file: SlmFile, origin: FileOrigin) -> FileFacts:
    manifest, config = file.manifest, file.config
    return FileFacts(
        name=manifest.name if manifest else origin.name,
        context_tokens=config.max_context,
        file_bytes=origin.file_bytes,
        parameters=file.parameters,
        dtype=file.dtype.label,
        sha256=origin.sha256,
        checksum=file.checksum,
        licence=manifest.licence if manifest else NOT_STATED,
        origin=manifest.origin if manifest else NOT_STATED,
    )


def cuts_words(tokenizer: Tokenizer, manifest: Manifest | None) -> bool:
    """Tell whether the tokenizer cuts text into words before it merges."""
    return tokenizer.kind == "BPE1" and manifest is not None and manifest.pre_tokenizer == "smollm"


def read_template(manifest: Manifest | None) -> PromptTemplate:
    """Read the frames of a conversation; without a manifest texts stand alone."""
    if manifest is None:
        return PromptTemplate("plain")
    template = manifest.chat_template
    return PromptTemplate(
        template.kind, template.default_system, template.turn_start, template.turn_end
    )


def choose_stop_ids(tokenizer: Tokenizer, template: PromptTemplate) -> frozenset[int]:
    """End of text always; in a chat any control token ends the answer, as none belongs in one."""
    ends = {tokenizer.special.eos}
    if template.kind == "chatml":
        ends.update(tokenizer.control_ids.values())
    return frozenset(ends)
