"""The one error that `kernels` raises, with the stable number and name of what went wrong.

Takes a code, the field at fault and, for a file, the byte offset of that field.
Gives a one-sentence message that says what, where and what to do.
Does not know who shows it: `py_core.chat.model_session` turns it into the error tree of the page.
"""

from enum import IntEnum


class ErrorCode(IntEnum):
    """Stable numbers: below 100 those of the SLM1 container, from 100 on this project's own.

    The member's name in lower case is the stable text code (`invalid_header`).
    """

    INVALID_LENGTH = 2
    INVALID_UTF8 = 3
    INVALID_MODEL_MAGIC = 4
    UNSUPPORTED_MODEL_VERSION = 5
    INVALID_HEADER = 6
    INVALID_TENSOR_DIRECTORY = 7
    MISSING_TENSOR = 8
    SHAPE_MISMATCH = 9
    UNSUPPORTED_DTYPE = 10
    CONTEXT_EXCEEDED = 11
    MODEL_NOT_LOADED = 12
    GENERATION_FAILED = 13
    INVALID_SETTING = 100
    INVALID_SCALE = 101
    INVALID_WEIGHT = 102
    INVALID_TOKENIZER = 103
    INVALID_MANIFEST = 104
    UNSUPPORTED_SOURCE = 105
    INVALID_SOURCE = 106
    READ_FAILED = 107
    WRITE_FAILED = 108
    INVALID_TOKEN_ID = 109


class KernelError(Exception):
    """Something that a caller handed to `kernels` cannot be used.

    Attributes:
        code: Stable number, see `ErrorCode`.
        name: Stable snake_case name of the code.
        field: Name of the header field, tensor, setting or argument at fault.
        offset: Byte offset in the file where the field lies, or None outside files.
        message: One sentence for a person.
    """

    def __init__(self, code: int, name: str, field: str, offset: int | None, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.field = field
        self.offset = offset
        self.message = message


def kernel_error(
    code: ErrorCode, field: str, message: str, *, offset: int | None = None
) -> KernelError:
    """Build the error of a code, so that number and name always agree."""
    return KernelError(int(code), code.name.lower(), field, offset, message)
