"""Just enough of SQL and of C++ to find tables, keys and statements: what sql_rules_test.py looks at."""

import re
from dataclasses import dataclass

# Comments, raw strings, plain strings, numbers (they may hold a quote), characters, blanks, the rest.
CPP_TOKEN = re.compile(
    r'(?P<skip>//[^\n]*|/\*.*?\*/|\s+)|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<plain>(?:\\.|[^"\\\n])*)"'
    r"|\b\d[\w'.]*|'(?:\\.|[^'\\\n])+'|.", re.DOTALL)
# A string that begins so is SQL, or a piece of it that is put into a statement; a sentence for people does not.
SQL_START = re.compile(
    r"\(*(select\b|with (recursive )?\w+ as\b|insert into \w|update \w+( \w+)? set\b|delete from \w|truncate \w|lock table\b|copy \w+ |merge into \w"
    r"|(create|alter|drop) (unique )?(table|index|database|function|trigger|view|sequence)\b|from [a-z_]+ (\w+ )?(join|where)\b|(unnest|least|greatest)\()", re.IGNORECASE)
# The tables after `from`, `join` and the like, also behind commas, with their aliases; functions are not meant.
TABLE = re.compile(
    r"\b(?P<word>from|join|into|(?<!for )(?<!do )update|truncate|lock table|(?:create|alter|drop) table(?: if not exists| if exists)?) "
    r"(?:only )?(?P<names>(?!(?:if|lateral) )[a-z_]\w*\b(?!\()(?: (?:as )?(?!where|set|join|using|on|order|group|limit|for|cross|left)[a-z]\w*)?"
    r"(?:, [a-z_]\w*\b(?!\()(?: (?!where|set|order|group|limit|for)[a-z]\w*)?)*)")


@dataclass(frozen=True)
class Statement:
    place: str  # file:line
    text: str  # without comments, one blank between words, text in quotes replaced by ''

    def tables(self):
        """(where it stands, the word in front of it, table) of each table that is named, without those of the statement's own `with`."""
        own = set(re.findall(r"\b(\w+) as (?:not )?(?:materialized )?\(", self.text))
        for found in TABLE.finditer(self.text):
            for number, name in enumerate(found["names"].split(", ")):
                name = name.split(" ")[0]
                if name not in own:
                    yield found.start(), "," if number else found["word"].split(" ")[0], name

    def names(self):
        return {name for _, _, name in self.tables()}

    def target(self):
        """The table that the statement writes; empty when it reads."""
        found = re.search(r"(?:^|\) |\()(?:insert into|update|delete from|merge into|copy) (\w+)", self.text)
        return found[1] if found else ""


def plain(text):
    """SQL as rules read it."""
    text = re.sub(r"'(?:[^']|'')*'|--[^\n]*", lambda found: "''" if found[0][0] == "'" else "", text)
    text = " ".join(text.split())
    return re.sub(r" ?(?<![<>!])= ?", " = ", text).replace("( ", "(").replace(" )", ")")


def split(text, separator):
    """Pieces between separators that stand outside of brackets."""
    pieces, depth, begin = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == separator and depth == 0:
            pieces.append(text[begin:at])
            begin = at + 1
    return [piece for piece in [*pieces, text[begin:]] if piece.strip()]


def migration(place, text):
    """The statements of an SQL file."""
    return [Statement(place, piece.strip()) for piece in split(plain(text), ";")]


def cpp_strings(text):
    """(line, content) of each string of a C++ source; what stands side by side is one."""
    begin, content = 0, None
    for token in CPP_TOKEN.finditer(text):
        piece = token["raw"] if token["raw"] is not None else token["plain"]
        if piece is not None:
            begin, content = (token.start(), piece) if content is None else (begin, content + piece)
        elif token["skip"] is None and content is not None:
            yield text.count("\n", 0, begin) + 1, content.replace("\\n", "\n")
            content = None


def cpp_statements(place, text):
    """The SQL among the strings of a C++ source."""
    return [Statement(f"{place}:{line}", plain(content)) for line, content in cpp_strings(text) if SQL_START.match(plain(content))]


def filled_statements(place, text):
    """The SQL that a C++ source makes of a text and the rows of a table: `kPieceText` with each row of `kPieceTables`."""
    made = []
    for found in re.finditer(r"\bk(\w+)Text\[\] =", text):
        rows = re.search(rf"\bk{found[1]}Tables\[\] = \{{(.*?)\}};", text, re.DOTALL)
        if not rows:
            continue
        _, content = next(cpp_strings(text[found.end() :]))
        for number, line in enumerate(rows[1].split("{") if "{" in rows[1] else rows[1].split(",")):
            if words := re.findall(r'"([^"]*)"', line):
                made.append(Statement(f"{place}: k{found[1]}Tables, row {number}", plain(content.format(*words))))
    return made


@dataclass(frozen=True)
class Key:
    kind: str  # "primary" or "unique"
    table: str
    columns: tuple


def columns_of(statement):
    """(name, definition) of the columns that a `create table` or `alter table ... add` names."""
    if body := re.match(r"create table (?:if not exists )?(\w+) \((.*)\)", statement.text):
        pieces = split(body[2], ",")
    elif added := re.match(r"alter table (\w+) add (?:column )?(.*)", statement.text):
        pieces = [added[2]]
    else:
        return
    for piece in pieces:
        name, _, definition = piece.strip().partition(" ")
        if name not in ("primary", "unique", "constraint", "foreign", "check", "exclude"):
            yield name, definition


def keys_of(statement):
    """The unique keys that a statement makes."""
    made = re.match(r"(?:create|alter) table (?:if not exists )?(\w+)", statement.text)
    index = re.match(r"create unique index (?:concurrently )?(?:\w+ )?on (\w+) (?:using \w+ )?\(([^()]*)\)", statement.text)
    if index:
        yield Key("unique", index[1], tuple(index[2].split(", ")))
    if not made:
        return
    for kind, columns in re.findall(r"\b(primary key|unique) \(([^()]*)\)", statement.text):
        yield Key(kind.split(" ")[0], made[1], tuple(columns.split(", ")))
    for name, definition in columns_of(statement):
        for kind in re.findall(r"\b(primary|unique)\b", definition):
            yield Key(kind, made[1], (name,))


def bracket(text, at):
    """The text between the bracket at `at` and the one that closes it."""
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return text[at + 1 : end]
    return text[at + 1 :]
