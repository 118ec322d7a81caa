"""Every rule of the header's numbers is stated once and names its field; error codes are stable."""

from dataclasses import replace

import pytest

from kernels.errors import ErrorCode, kernel_error
from kernels.model_config import find_config_fault
from kernels.model_names import count_parameters, count_tensors, layer_shapes, tensor_shapes
from tests.kernels.random_tensors import SMALL, TIED


def test_a_sound_configuration_has_no_fault():
    """Grouped or not, tied or not."""
    assert find_config_fault(SMALL) is None
    assert find_config_fault(TIED) is None


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("vocab_size", 0, "vocab_size"),
        ("hidden_size", 25, "head_dim"),
        ("layer_count", 0, "layer_count"),
        ("head_count", 5, "head_dim"),
        ("kv_head_count", 4, "kv_head_count"),
        ("kv_head_count", 7, "kv_head_count"),
        ("ffn_size", -1, "ffn_size"),
        ("max_context", 0, "max_context"),
        ("rope_theta", float("inf"), "rope_theta"),
        ("rms_norm_epsilon", 0.0, "rms_norm_epsilon"),
    ],
)
def test_each_broken_rule_names_its_field(field, value, named):
    """Notes on SLM1, section 1.2."""
    fault = find_config_fault(replace(SMALL, **{field: value}))
    assert fault is not None
    assert (fault.field, bool(fault.rule)) == (named, True)


def test_an_odd_head_width_is_a_fault():
    """Rotary positions turn pairs of numbers."""
    fault = find_config_fault(replace(SMALL, head_dim=3, hidden_size=18))
    assert fault is not None
    assert fault.field == "head_dim"


@pytest.mark.parametrize("config", [SMALL, TIED], ids=["untied", "tied"])
def test_counting_equals_listing(config):
    """The counts need no list of names, which matters for damaged headers."""
    shapes = dict(tensor_shapes(config))
    assert len(shapes) == count_tensors(config)
    total = sum(shape[0] * (shape[1] if len(shape) > 1 else 1) for shape in shapes.values())
    assert total == count_parameters(config)
    assert len(layer_shapes(config)) == 9


def test_key_value_widths_follow_the_key_value_heads():
    """K x D columns, and 2 x L x K x D x 4 bytes a token."""
    assert SMALL.kv_size == 2 * 4
    assert SMALL.kv_bytes_per_token == 2 * 3 * 8 * 4


def test_error_codes_are_those_of_the_container():
    """Notes on SLM1, section 2.1; own codes begin at 100."""
    published = {
        "invalid_length": 2,
        "invalid_utf8": 3,
        "invalid_model_magic": 4,
        "unsupported_model_version": 5,
        "invalid_header": 6,
        "invalid_tensor_directory": 7,
        "missing_tensor": 8,
        "shape_mismatch": 9,
        "unsupported_dtype": 10,
        "context_exceeded": 11,
        "model_not_loaded": 12,
        "generation_failed": 13,
    }
    assert {code.name.lower(): code.value for code in ErrorCode if code < 100} == published
    assert [code for code in ErrorCode if code >= 100] == [*range(100, 110)]


def test_number_and_name_of_an_error_agree():
    """Both are stable and reach the page."""
    error = kernel_error(ErrorCode.INVALID_SCALE, "x.scales", "A sentence.", offset=9)
    assert (error.code, error.name) == (101, "invalid_scale")
    assert (error.field, error.offset) == ("x.scales", 9)
    assert str(error) == error.message == "A sentence."
