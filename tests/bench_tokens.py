"""A token counter for measuring: that of the peers where its data is there, else our model's.

Takes nothing or a path, gives a function that counts and its name. Does not know what is counted.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kernels.byte_source import FileSource
from kernels.slm_file import open_model
from kernels.tokenizer import load_tokenizer
from py_core.serving.cache_folder import find_cache_folder

_CL100K_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)


@dataclass(frozen=True, slots=True)
class BenchCounter:
    """How texts are counted."""

    name: str
    count: Callable[[str], int]


def find_counter(vocabulary: Path | None) -> BenchCounter:
    """Choose a counter: a `.tiktoken` file, the package's own data, else a `.slm` model.

    Raises:
        FileNotFoundError: there is neither.
    """
    return (
        (_read_vocabulary(vocabulary) if vocabulary else None) or _find_tiktoken() or _find_model()
    )


def _read_vocabulary(path: Path) -> BenchCounter:
    import tiktoken  # noqa: PLC0415 - not among the project's packages
    from tiktoken.load import load_tiktoken_bpe  # noqa: PLC0415

    encoding = tiktoken.Encoding(
        path.stem,
        pat_str=_CL100K_PATTERN,
        mergeable_ranks=load_tiktoken_bpe(str(path)),
        special_tokens={},
    )
    return BenchCounter(path.stem, lambda text: len(encoding.encode_ordinary(text)))


def _find_tiktoken() -> BenchCounter | None:
    try:
        import tiktoken  # noqa: PLC0415

        encoding = tiktoken.get_encoding("cl100k_base")
    except (ImportError, OSError, ValueError):
        return None  # no package, or no network and no stored data
    return BenchCounter("cl100k_base", lambda text: len(encoding.encode_ordinary(text)))


def _find_model() -> BenchCounter:
    folder = find_cache_folder(os.environ, os.sys.platform) / "models"  # type: ignore[attr-defined]
    paths = sorted(folder.glob("smollm2*.slm"))
    if not paths:
        message = f"no token counter: prepare the demo model first, it is not in {folder}"
        raise FileNotFoundError(message)
    model = open_model(FileSource(paths[0]))
    tokenizer = load_tokenizer(model.tokenizer_section, model.manifest)
    return BenchCounter("smollm2", lambda text: len(tokenizer.encode(text)))
