"""Turn the one error of `kernels` into the error tree.

Takes a `KernelError`, gives the error of ours that says the same. Does not know what was tried.
"""

from kernels.errors import ErrorCode, KernelError
from py_core.errors import InvalidSettingError, InvariantError, ModelFileError, TinyloomError

OUR_FAULT = frozenset(
    {
        ErrorCode.INVALID_LENGTH,
        ErrorCode.CONTEXT_EXCEEDED,
        ErrorCode.MODEL_NOT_LOADED,
        ErrorCode.INVALID_TOKEN_ID,
    }
)
"""What the compiler and the session make impossible; once the model is open they are bugs."""


def translate_kernel_error(error: KernelError) -> TinyloomError:
    """Translate an error of a running model."""
    if error.code == ErrorCode.INVALID_SETTING:
        return InvalidSettingError(field=error.field, expected=error.message)
    if error.code in OUR_FAULT:
        return InvariantError(what=f"{error.name} in {error.field}")
    return translate_file_error(error)


def translate_file_error(error: KernelError) -> ModelFileError:
    """Translate a refusal of a file: every code is the file's fault there."""
    return ModelFileError(
        error.message,
        reason=error.name,
        number=error.code,
        field=error.field,
        offset=error.offset,
    )
