"""The two forms of the package: what they have in common beyond their marks, and how one of them is chosen."""

import contextlib
import functools
import importlib
import inspect
import os
import shutil
import socket
import sys
import sysconfig

import pytest

import stepscope
from stepscope import _marks
from tests.python.intake import PACKAGE, finish, training

PURE = importlib.import_module("stepscope._pure")
SAY = "import stepscope; said = stepscope.info(); print(said['form'], said['form_reason'], said['reason'], sep='|')"


@pytest.fixture
def agent(intake, session_at):
    session_at(intake.path)
    return intake


def test_a_span_can_be_used_again_nested_and_in_an_exit_stack(agent):
    again = stepscope.annotate(name="again")
    for _ in range(3):
        with again as given:
            assert given is again
    with contextlib.ExitStack() as stack:
        stack.enter_context(stepscope.annotate("stacked"))
        stack.enter_context(stepscope.phase("forward"))
    assert agent.drain().annotations == {"again": 3, "stacked": 1}


def test_spans_that_are_kept_stay_what_they_are(agent):
    """A span that nobody has any more is made into the next one."""
    token = stepscope.annotation_begin("token")
    kept = [stepscope.annotate(f"kept {i}") for i in range(3)]
    for each in kept:
        with stepscope.annotate("other"), each, stepscope.annotate("inner"), stepscope.phase("forward"):
            pass
    stepscope.annotation_end(token)
    assert agent.drain().annotations == {"token": 1, "kept 0": 1, "kept 1": 1, "kept 2": 1, "other": 3, "inner": 3}


def test_what_was_never_entered_records_nothing(agent):
    span = stepscope.annotate("never")
    span.__exit__(None, None, None)
    stepscope.annotation_end(span)
    with stepscope.annotate("once"):
        pass
    assert agent.drain().annotations == {"once": 1}


# A script that does with a span all that it may, whoever records it, and prints what it saw.
ANY_USE = """
import contextlib, stepscope
def work(): return 3
kept = stepscope.annotate("kept")
with kept as given, stepscope.phase(name="forward"):
    said = [given is kept]
with contextlib.ExitStack() as stack:
    said.append(stack.enter_context(kept) is kept)
said += [stepscope.annotate("decorated")(work)(), kept.__enter__() is kept, kept.__exit__(None, None, None)]
for wrong in (lambda: kept(work, work), lambda: kept(name=work), lambda: stepscope.annotate("a", "b")):
    with contextlib.suppress(TypeError):
        said.append(wrong())
try:
    with kept:
        raise KeyError("its own")
except KeyError as error:
    said.append(repr(error))
stepscope.annotation_end(stepscope.annotation_begin("token"))
print(said, stepscope.info()["connected"])
"""
SEEN = "[True, True, 3, True, None, \"KeyError('its own')\"]"


def test_spans_that_are_switched_off_can_do_what_others_can(intake, tmp_path):
    for socket, connected in (("", False), (tmp_path / "nobody", False), (intake.path, True)):
        assert finish(training(ANY_USE, socket)) == f"{SEEN} {connected}\n"


def test_a_span_that_is_made_by_its_type_is_refused(agent):
    """Such a span has no name. The process that tried lives on."""
    kind = type(stepscope.annotate("named"))
    for make in (kind, lambda: object.__new__(kind)):
        with contextlib.suppress(TypeError, AttributeError), make():
            pass
    with stepscope.annotate("named"):
        pass
    assert agent.drain().annotations == {"named": 1}


def test_a_decorated_method_is_still_a_method(agent):
    class Model:
        @stepscope.annotate("method")
        def double(self, x, *, by=2):
            """Doubles."""
            return x * by

        @stepscope.phase("loss")
        def generate(self):
            yield 1

    assert Model().double(4) == 8 and Model().double(4, by=3) == 12
    assert Model.double.__doc__ == "Doubles." and Model.double.__name__ == "double"
    assert list(Model().generate()) == [1]
    assert agent.drain().annotations == {"method": 2}


def test_what_can_be_called_can_be_decorated(agent):
    class Adds:
        def __call__(self, x):
            return x + 1

        def twice(self, x):
            return self(self(x))

    for called, given in ((len, "abc"), (functools.partial(pow, 3), 1), (Adds(), 2), (Adds().twice, 1), (lambda x: x, 3)):
        assert stepscope.annotate("work")(stepscope.annotate("inner")(called))(given) == 3
    assert agent.drain().annotations == {"work": 5, "inner": 5}


def test_decorated_generators_are_as_they_were(agent):
    """Their time would be their consumer's too."""

    def generate():
        yield 1

    async def generate_later():
        yield 1

    for function in (generate, generate_later):
        assert stepscope.annotate("work")(function) is function and stepscope.phase("data")(function) is function


def test_a_form_that_was_loaded_before_an_upgrade_decorates_nothing():
    """The old form imports the new _decorate.py when the first function is decorated, and gives it a word."""
    decorate = importlib.import_module("stepscope._decorate")
    assert decorate.timed("phase", "loss", len) is len


def test_a_decorator_costs_nothing_where_nobody_records(session_at):
    session_at("")

    def work():
        pass

    assert stepscope.annotate("work")(work) is work and stepscope.phase("loss")(work) is work


def test_a_name_is_what_it_says_of_itself(agent):
    class Broken:
        def __str__(self):
            raise OSError("no")

    for name in (["a", "list"], 7, Broken()):
        with stepscope.annotate(name), stepscope.phase(name):
            pass
    assert agent.drain().annotations == {"['a', 'list']": 1, "7": 1, "(no name)": 1}


def test_a_str_that_compares_by_its_own_code_is_taken_by_its_letters(agent):
    class Odd(str):
        def __eq__(self, other):
            raise OSError("no")

        __hash__ = None

    for _ in range(2):
        with stepscope.annotate(Odd("odd")):
            pass
    assert agent.drain().annotations == {"odd": 2}


@pytest.mark.parametrize("times", [(-5, 3), (3, -5), ("x", 3), (None, None), (2**70, 2**71), (1.5, 2.5)])
def test_times_that_make_no_sense_raise_nothing(agent, times):
    _marks.record(*times, "forward")
    _marks.span(*times, "name")
    _marks.end_step(times[1])
    agent.drain()


def test_wrong_calls_are_told_as_python_does(form):
    for wrong in (stepscope.annotate, lambda: stepscope.annotate("a", "b"), lambda: stepscope.phase(word="x"),
                  lambda: stepscope.step(1, 2), lambda: stepscope.step(steps=1), lambda: stepscope.metric("a"),
                  lambda: stepscope.metric("a", 1, 2), lambda: stepscope.metric("a", name="b"),
                  lambda: stepscope.metric(name="a", values=1), lambda: stepscope.metric(value=1)):
        with pytest.raises(TypeError):
            wrong()


def test_both_forms_explain_themselves_alike(form):
    """`help` and editors show these."""
    for name in ("annotate", "phase", "annotation_begin", "annotation_end", "step", "metric"):
        texts = [" ".join(inspect.getdoc(getattr(each, name)).replace("``", "").split()) for each in (stepscope, PURE)]
        assert texts[0] == texts[1]
        signatures = [list(inspect.signature(getattr(each, name)).parameters) for each in (stepscope, PURE)]
        assert signatures[0] == signatures[1]


def test_the_agent_calls_and_the_next_step_listens(tmp_path, session_at):
    """The agent sets the control word; nobody waits for the second in which the connection is looked at anyway."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(tmp_path / "a"))
        listener.listen()
        session = session_at(tmp_path / "a")
        stepscope.step()
        connection, _ = listener.accept()
        connection.setblocking(False)
        connection.recv(9000)
        connection.send(b"SSMK\x01\x00\x04\x00" + b"\x07\x00\x00\x00" + b"\x01\x00x" + b"\x00\x00")
        session.due = 2**62
        stepscope.step()
        with pytest.raises(BlockingIOError):
            connection.recv(9000)
        set_control_word(session.rings[0].fd, 1)
        stepscope.step()
        assert connection.recv(9000)[6] == 5
        session.due = 2**62
        stepscope.step()
        assert session.due == 2**62


def set_control_word(fd, value):
    os.pwrite(fd, value.to_bytes(8, "little"), 8 * 17)


def test_the_form_is_said(form, tmp_path):
    asked = os.environ["STEPSCOPE_PURE"] == "1"
    said = finish(training(SAY, tmp_path / "nobody")).split("|")
    assert said[:2] == [form, "STEPSCOPE_PURE is set" if asked else ""]


def test_without_the_extension_it_is_pure_and_says_so(tmp_path):
    copy = tmp_path / "stepscope"
    shutil.copytree(PACKAGE / "stepscope", copy, ignore=shutil.ignore_patterns("*.so"))
    said = finish(training(SAY, "", PYTHONPATH=str(tmp_path), STEPSCOPE_PURE="")).split("|")
    assert said[:2] == ["pure Python", "the extension was not built"]
    (copy / ("_native" + sysconfig.get_config_var("EXT_SUFFIX"))).write_bytes(b"\x7fELF, not quite")
    said = finish(training(SAY, "", PYTHONPATH=str(tmp_path), STEPSCOPE_PURE="")).split("|")
    assert said[0] == "pure Python" and said[1].startswith("the extension cannot be loaded: ")


def test_a_package_that_is_loaded_twice_goes_on(intake):
    code = """
import stepscope, sys
with stepscope.annotate("first"):
    pass
for name in [name for name in sys.modules if name.startswith("stepscope")]:
    del sys.modules[name]
import stepscope as second
with stepscope.annotate("first"), second.annotate("second"):
    pass
print(second.info()["form"])
"""
    assert finish(training(code, intake.path)) == "pure Python\n"
    intake.drain_until(lambda i: i.annotations == {"first": 2, "second": 1}, "the marks of both")


def test_marks_hold_no_memory(agent):
    def mark():
        for i in range(2000):
            with stepscope.annotate(f"name {i % 50}"), stepscope.phase("forward"):
                pass
            stepscope.annotation_end(stepscope.annotation_begin("token"))
            stepscope.step(number=i)

    mark()
    before = sys.getallocatedblocks()
    mark()
    assert sys.getallocatedblocks() - before < 200
