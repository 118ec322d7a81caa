"""At most one model; a load that fails or is stopped leaves the old one, if memory allows."""

import gc

import pytest

from kernels.byte_source import BytesSource
from kernels.model_shape import read_model_shape
from kernels.numpy_ops import NumpyOps
from py_core.chat.loaded_model import FileOrigin
from py_core.chat.memory_room import MemoryRoom
from py_core.chat.model_session import (
    CacheFallback,
    LoadProgress,
    ModelSession,
    OldModelFreed,
    OpSetFallback,
)
from py_core.chat.op_sets import EngineWish, OpSetHome
from py_core.errors import ModelFileError, ModelNotLoadedError, ModelTooLargeError
from py_core.identity import sha256_hex
from tests.py_core.fake_host import FakeHost
from tests.py_core.model_files import make_model


class ScarceOps(NumpyOps):
    """Runs out of memory while another instance holds weights, or always."""

    alive = 0
    is_hopeless = False

    def load(self, model):
        """Refuse the second one."""
        for step in super().load(model):
            yield step
            if ScarceOps.alive or ScarceOps.is_hopeless:
                raise MemoryError
        ScarceOps.alive += 1

    def close(self):
        """Make room again."""
        if self.weight_bytes and ScarceOps.alive:
            ScarceOps.alive -= 1
        super().close()


@pytest.fixture
def scarce():
    """A session in a memory that holds one model only."""
    ScarceOps.alive, ScarceOps.is_hopeless = 0, False
    return make_session({"numpy": OpSetHome(lambda config, _: ScarceOps(config))})


def make_session(*op_sets, host=None):
    """Start a session in a memory as large as a browser's."""
    return ModelSession(MemoryRoom(host or FakeHost()), *op_sets)


def load(session, content, wish="auto", name="file.slm", cache_format="f32"):
    """Load to the end; give all steps."""
    origin = FileOrigin(name, len(content), sha256_hex(content))
    return list(session.load_steps(BytesSource(content), origin, EngineWish(wish, cache_format)))


def test_a_session_without_a_model_says_so():
    """Every use asks for it by name."""
    with pytest.raises(ModelNotLoadedError):
        make_session().require_model()


def test_progress_counts_every_tensor():
    """The last step says that all are done."""
    steps = load(make_session(), make_model())

    assert [step.done for step in steps] == list(range(1, steps[-1].total + 1))


def test_a_model_without_a_manifest_takes_its_name_from_the_file_and_states_no_licence():
    """What the file does not say is not guessed."""
    session = make_session()

    load(session, make_model(has_manifest=False), name="found.slm")

    facts = session.require_model().facts
    assert facts.name == "found.slm"
    assert facts.licence == "not stated"
    assert session.require_model().template.kind == "plain"


@pytest.mark.parametrize("length", [0, 50, 2_000])
def test_a_truncated_file_is_refused_and_the_old_model_stays(length):
    """The refusal carries field and number of the container format."""
    session = make_session()
    load(session, make_model(seed=1))
    old = session.require_model()

    with pytest.raises(ModelFileError) as caught:
        load(session, make_model(seed=2)[:length])

    assert caught.value.field
    assert session.model is old


def test_a_stopped_load_leaves_the_old_model():
    """Closing the generator is enough."""
    session = make_session()
    load(session, make_model(seed=1))
    old = session.require_model()
    content = make_model(seed=2)

    steps = session.load_steps(BytesSource(content), FileOrigin("b", 1, "b"), EngineWish())
    next(steps)
    steps.close()

    assert session.model is old


def test_a_new_model_replaces_the_old_one():
    """There is only one place."""
    session = make_session()
    load(session, make_model(seed=1))
    load(session, make_model(seed=2))

    assert session.require_model().facts.origin == "made from seed 2"


def test_when_memory_holds_only_one_model_the_old_one_is_freed_with_a_notice(scarce):
    """The user is told that the old model had to go."""
    load(scarce, make_model(seed=1))

    steps = load(scarce, make_model(seed=2))

    assert [step for step in steps if isinstance(step, OldModelFreed)]
    assert scarce.require_model().facts.origin == "made from seed 2"


def test_a_model_that_does_not_fit_even_alone_is_too_large(scarce):
    """The error names the bytes that it would need."""
    ScarceOps.is_hopeless = True

    with pytest.raises(ModelTooLargeError) as caught:
        load(scarce, make_model())

    assert caught.value.needed_bytes > 4 * 8_000
    assert scarce.model is None


def test_an_engine_that_is_not_there_is_replaced_once_with_a_sentence():
    """The wish is honoured where it can be."""
    session = make_session()

    first = load(session, make_model(), wish="simd")[0]

    assert isinstance(first, OpSetFallback)
    assert session.require_model().ops.name == "numpy"


def test_freeing_lets_the_weights_go():
    """Nothing of ours holds the arrays any more."""
    session = make_session()
    load(session, make_model())
    ops = session.require_model().ops

    assert session.free()
    gc.collect()

    assert ops.weight_bytes == 0
    assert not session.free()


def test_a_model_that_cannot_fit_is_refused_with_numbers_before_anything_is_read():
    """Needed and allowed bytes are in the error; the old model stays."""
    host = FakeHost()
    session = make_session(host=host)
    load(session, make_model(seed=1))
    old = session.require_model()
    host.limit_bytes = host.heap_bytes() + 20_000
    content = make_model(seed=2)
    needed = session.forecast(read_model_shape(BytesSource(content)), EngineWish()).plan

    steps = session.load_steps(BytesSource(content), FileOrigin("b", 1, "b"), EngineWish())
    with pytest.raises(ModelTooLargeError) as caught:
        next(steps)

    assert caught.value.allowed_bytes == 20_000 < needed.bytes_to_load
    assert caught.value.needed_bytes == needed.bytes_to_load
    assert session.model is old


def test_two_models_that_do_not_fit_together_are_not_tried_together():
    """The old one goes first, before a weight of the new one is loaded."""
    host = FakeHost()
    session = make_session(host=host)
    load(session, make_model(seed=1))
    content = make_model(seed=2)
    plan = session.forecast(read_model_shape(BytesSource(content)), EngineWish()).plan
    host.limit_bytes = host.heap_bytes() + plan.bytes_to_load

    steps = load(session, content)

    freed = [isinstance(step, OldModelFreed) for step in steps].index(True)
    assert not any(isinstance(step, LoadProgress) for step in steps[:freed])


def test_a_kv_cache_that_is_not_there_is_replaced_with_a_sentence():
    """Numpy keeps float32 only."""
    session = make_session()

    first = load(session, make_model(), "numpy", cache_format="int8")[0]

    assert isinstance(first, CacheFallback)
    assert session.require_model().cache.storage.format == "f32"
