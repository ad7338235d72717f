"""The comments of a source file, so that tests can read what a compiler skips."""

import ast
import io
import re
import tokenize
from typing import NamedTuple

SUFFIXES = (".h", ".c", ".cpp", ".py", ".ts", ".tsx", ".mjs", ".sh")
# A text in quotes hides what looks like a comment in it. The apostrophe in 10'000 opens none.
CPP = re.compile(r'R"(\w*)\((?s:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'|(?P<comment>//[^\n]*|/\*(?s:.*?)\*/)')
SCRIPT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`|(?P<comment>(?<!:)//[^\n]*|/\*(?s:.*?)\*/)')
SHELL = re.compile(r"(?P<comment>(?:^|(?<=\s))#[^\n]*)", re.MULTILINE)
MARKS = re.compile(r"^\s*(?://+|/\*+|\*+/|\*|#+!?)\s?|\s*\*+/\s*$", re.MULTILINE)


class Comment(NamedTuple):
    line: int
    text: str


class Piece(NamedTuple):
    """A comment as the language sees it: one line of a longer one, where each line has its own mark."""

    line: int
    column: int
    text: str
    alone: bool  # on its line


def pieces_of(text, pattern):
    for found in pattern.finditer(text):
        if found["comment"]:
            begin = text.rfind("\n", 0, found.start()) + 1
            yield Piece(text.count("\n", 0, found.start()) + 1, found.start() - begin, found["comment"], not text[begin:found.start()].strip())


def pieces_of_python(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield Piece(*token.start, token.string, not token.line[:token.start[1]].strip())


def docstrings(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
            yield Comment(node.body[0].lineno, ast.get_docstring(node))


def joined(pieces):
    """Comments from pieces: a piece alone on its line goes on with the one above it in the same column."""
    found, last = [], None
    for piece in pieces:
        words = MARKS.sub("", piece.text).strip()
        if last and piece.alone and (piece.line, piece.column) == (last.line + 1, last.column):
            found[-1] = Comment(found[-1].line, f"{found[-1].text}\n{words}")
        else:
            found.append(Comment(piece.line, words))
        last = piece
    return found


def comments(path):
    """All comments of a file, docstrings among them, without their marks."""
    text = path.read_text(errors="replace")
    if path.suffix == ".py":
        return [*joined(pieces_of_python(text)), *docstrings(text)]
    pattern = {".sh": SHELL, ".ts": SCRIPT, ".tsx": SCRIPT, ".mjs": SCRIPT}.get(path.suffix, CPP)
    return joined(pieces_of(text, pattern))
