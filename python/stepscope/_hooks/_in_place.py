"""Functions of others that are watched where they are: the object stays the same one and only its code is another.

So whoever took the function by name before, compares it, pickles it by reference or reads its signature finds what there
was (docs/decisions/0053-code-in-place.md). The code that is put there passes the arguments to a watch, and takes its own
frame out of the traceback of an exception that comes through.
"""

from __future__ import annotations

import inspect
from types import CodeType, FunctionType
from typing import Any, Callable, Dict, List, Tuple

from ._frames import leave, skip

_CALL, _LEAVE, _PROBLEM = "_stepscope_call", "_stepscope_leave", "_stepscope_problem"
_UNLIKE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR  # they run when their call is over

# A name is made a free variable by its mere mention: a function's code has as many as the function has cells.
_TEXT = """
def enclose({cells}):
    def function({parameters}):
        {call}, {leave} = {call!r}, {leave!r}
        try:
            return {call}({arguments})
        except BaseException as {problem}:
            {leave}({problem})
            raise
        ({cells})
"""


def innermost(function: Any) -> Any:
    """The function behind its decorators, which look at the frame that called them, as those that warn do."""
    return inspect.unwrap(function)


def fits(function: Any) -> bool:
    return type(function) is FunctionType and not function.__code__.co_flags & _UNLIKE


def put(function: FunctionType, make: Callable[[Any], Any]) -> CodeType:
    """Lets the function call make(one like it). Returns its code from now on."""
    code = _passing_on(function.__code__, make(_like(function)))
    skip(code)
    function.__code__ = code
    return code


def _like(function: FunctionType) -> FunctionType:
    """What the function was. It gets every argument, since the function itself knows what is given where none is."""
    other = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    other.__kwdefaults__ = function.__kwdefaults__
    other.__qualname__, other.__module__, other.__doc__ = function.__qualname__, function.__module__, function.__doc__
    return other


def _passing_on(code: CodeType, call: Any) -> CodeType:
    parameters, arguments = _signature(code)
    cells = "".join(name + ", " for name in code.co_freevars)
    text = _TEXT.format(cells=cells, parameters=parameters, arguments=arguments, call=_CALL, leave=_LEAVE, problem=_PROBLEM)
    (made,) = _inner(_inner(compile(text, code.co_filename, "exec", dont_inherit=True))[0])
    known = {"co_filename": code.co_filename, "co_firstlineno": code.co_firstlineno, "co_name": code.co_name}
    if hasattr(code, "co_qualname"):
        known["co_qualname"] = code.co_qualname
    constants = _with_objects(made.co_consts, {_CALL: call, _LEAVE: leave})
    return made.replace(co_consts=constants, **known)  # type: ignore[arg-type]


def _with_objects(constants: Tuple[Any, ...], objects: Dict[str, Any]) -> Tuple[Any, ...]:
    """The constants with objects in the place of their names, also within a tuple."""
    return tuple(_with_objects(each, objects) if type(each) is tuple else objects.get(each, each) for each in constants)


def _inner(code: CodeType) -> List[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _signature(code: CodeType) -> Tuple[str, str]:
    """The code's parameters, and the same ones as arguments; what they are by default is the function's affair."""
    count, only = code.co_argcount, code.co_posonlyargcount
    names = list(code.co_varnames)
    by_name = names[count : count + code.co_kwonlyargcount]
    behind = names[count + code.co_kwonlyargcount :]
    parameters, arguments = names[:only] + ["/"] * bool(only) + names[only:count], names[:count]
    if code.co_flags & inspect.CO_VARARGS:
        rest = "*" + behind.pop(0)
        parameters.append(rest)
        arguments.append(rest)
    elif by_name:
        parameters.append("*")
    parameters += by_name
    arguments += [f"{name}={name}" for name in by_name]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        parameters.append("**" + behind[0])
        arguments.append("**" + behind[0])
    return ", ".join(parameters), ", ".join(arguments)
