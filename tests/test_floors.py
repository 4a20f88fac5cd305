"""The house rules that a reader relies on, each held by a look at the source.

A room may import what lies on lower floors; what a room hides stays in it.  Imports inside functions
count too; those of `if TYPE_CHECKING:` do not.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "nbspam"
FLOORS = {
    **dict.fromkeys(("errors", "failures", "labels", "settings", "__init__"), 0),
    **dict.fromkeys(("mail", "sources", "whole_file"), 1),
    "tokens": 2,
    **dict.fromkeys(("vocabulary", "scoring", "decision", "losses", "store", "foreign"), 3),
    **dict.fromkeys(("models", "vectorize", "engine"), 4),
    "evaluation": 5,
    "workflow": 6,
    "serve": 7,
    **dict.fromkeys(("cli", "__main__"), 8),
}
MAIL_ROOMS = ("html", "attachments")  # in the mail room; each may import those before it
MAX_FUNCTION_LINES = 40  # the docstring does not count
MAX_FILE_LINES = 400
FILES = sorted(ROOT.rglob("*.py"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _runs(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below, without the bodies of `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if (
            isinstance(child, ast.If)
            and isinstance(child.test, ast.Name)
            and child.test.id == "TYPE_CHECKING"
        ):
            continue
        yield child
        yield from _runs(child)


def imports(path: Path) -> set[str]:
    """Full names of what a file imports when it runs: `nbspam.labels`, `sqlite3`, `rich.table`."""
    found: set[str] = set()
    for node in _runs(tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(path)}: a relative import"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def rooms_imported(path: Path) -> set[str]:
    names = (name.split(".") for name in imports(path))
    used = {parts[1] if len(parts) > 1 else "__init__" for parts in names if parts[0] == "nbspam"}
    return {"__init__" if name == "__version__" else name for name in used}


def packages_imported(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


def importers(*packages: str) -> set[str]:
    return {relative(path) for path in FILES if packages_imported(path) & set(packages)}


def outside(*places: str) -> list[Path]:
    return [path for path in FILES if not relative(path).startswith(places)]


def names_and_strings(path: Path) -> tuple[set[str], list[str]]:
    """Identifiers of a file, and its string constants that are no docstrings."""
    docs = {id(node.value) for node in ast.walk(tree(path)) if isinstance(node, ast.Expr)}
    names: set[str] = set()
    strings: list[str] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            strings.append(node.value)
    return names, strings


def test_the_tests_see_the_source() -> None:
    assert len(FILES) > 100
    assert rooms_imported(ROOT / "workflow" / "training.py") >= {"engine", "store", "sources", "models"}
    assert "sqlite3" in packages_imported(ROOT / "store" / "writer.py")


def test_every_room_has_a_floor() -> None:
    assert {room(path) for path in FILES} - set(FLOORS) == set()


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_imports_go_down_only(path: Path) -> None:
    floor = FLOORS[room(path)]
    assert {name for name in rooms_imported(path) if FLOORS[name] > floor} == set()


@pytest.mark.parametrize("place", range(len(MAIL_ROOMS) - 1), ids=MAIL_ROOMS[:-1])
def test_rooms_of_the_mail_room_import_one_way(place: int) -> None:
    files = [path for path in FILES if relative(path).startswith(f"mail/{MAIL_ROOMS[place]}/")]
    names = {name for path in files for name in imports(path)}
    assert len(files) > 1
    later = tuple(f"nbspam.mail.{room}." for room in MAIL_ROOMS[place + 1 :])
    assert {name for name in names if name.startswith(later)} == set()


def test_the_ground_floor_imports_nothing_but_errors_and_class_names() -> None:
    for name, others in (("errors", set()), ("labels", {"errors"}), ("settings", {"errors", "labels"})):
        assert rooms_imported(ROOT / f"{name}.py") <= others


def test_rooms_of_one_floor_do_not_import_each_other_in_a_circle() -> None:
    known: dict[str, set[str]] = {}
    for path in FILES:
        beside = {name for name in rooms_imported(path) if FLOORS[name] == FLOORS[room(path)]}
        known.setdefault(room(path), set()).update(beside - {room(path)})
    assert [(a, b) for a, others in known.items() for b in others if a in known.get(b, ())] == []


@pytest.mark.parametrize("name", ["mail", "tokens"])
def test_files_of_a_room_import_each_other_in_no_circle(name: str) -> None:
    files = {"nbspam." + relative(path)[:-3].replace("/", "."): path for path in FILES if room(path) == name}
    below = {
        file: {other for other in files if any(f"{used}.".startswith(f"{other}.") for used in imports(path))}
        for file, path in files.items()
    }
    while leaves := [file for file, others in below.items() if not others]:
        for file in leaves:
            del below[file]
        for others in below.values():
            others.difference_update(leaves)
    assert below == {}


def test_only_the_store_knows_sql() -> None:
    assert {name.partition("/")[0] for name in importers("sqlite3", "_sqlite3")} == {"store"}
    verbs = ("SELECT ", "INSERT ", "UPDATE ", "DELETE FROM", "CREATE TABLE", "PRAGMA ")
    for path in outside("store/"):
        _, strings = names_and_strings(path)
        assert [text for text in strings if any(verb in text for verb in verbs)] == [], relative(path)


def test_only_render_imports_rich() -> None:
    assert all(name.startswith("cli/render") for name in importers("rich"))
    assert importers("rich") != set()


def test_only_the_cli_imports_click() -> None:
    assert {name.partition("/")[0] for name in importers("click")} == {"cli"}


def test_numpy_and_scipy_stay_above_the_floor_of_one_mail() -> None:
    for name in importers("numpy", "scipy", "pandas", "matplotlib", "jinja2"):
        assert FLOORS[name.partition("/")[0].removesuffix(".py")] >= FLOORS["models"], name


def test_only_one_file_imports_dask() -> None:
    assert importers("dask", "distributed") <= {"engine/dask.py"}


def test_only_cli_and_serve_touch_stdout_and_sockets() -> None:
    for path in outside("cli/", "serve/", "__main__.py"):
        names, _ = names_and_strings(path)
        assert names & {"stdout", "stderr", "stdin", "print", "input"} == set(), relative(path)
        assert packages_imported(path) & {"socket", "socketserver", "asyncio", "http"} == set(), relative(
            path
        )


def test_only_cli_and_serve_end_a_process() -> None:
    """Nothing below says with which status a command ends; a worker of the engine ends with its parent."""
    for path in outside("cli/", "serve/", "__main__.py"):
        names, _ = names_and_strings(path)
        allowed = {"_exit"} if relative(path) == "engine/executor.py" else set()
        assert names & {"_exit", "SystemExit", "abort"} <= allowed, relative(path)
        assert "sys.exit" not in path.read_text(), relative(path)


def _compared(node: ast.Compare) -> set[str]:
    """The last names of what an ordering compares: `verdict.probability` gives probability."""
    if not any(isinstance(operation, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for operation in node.ops):
        return set()
    sides = [node.left, *node.comparators]
    named = {side.attr for side in sides if isinstance(side, ast.Attribute)}
    return named | {side.id for side in sides if isinstance(side, ast.Name)}


def test_only_decision_compares_with_a_cutoff() -> None:
    """A cut-off has a name; nothing else orders by one, nor a probability or log-odds by a number."""
    cutoffs = {"cutoff", "cutoffs", "cutoff_nats", "ham_below", "spam_above"}
    for path in outside("decision.py"):
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Compare):
                continue
            named = _compared(node)
            assert named & cutoffs == set(), f"{relative(path)}:{node.lineno}"
            numbers = [
                side.value
                for side in (node.left, *node.comparators)
                if isinstance(side, ast.Constant) and isinstance(side.value, (int, float))
            ]
            judged = named & {"probability", "log_odds", "odds", "posterior"}
            assert not (judged and numbers), f"{relative(path)}:{node.lineno}"


def test_only_labels_knows_class_order() -> None:
    """No pair of ham and spam is written down elsewhere, and no list of classes is sorted."""
    for path in outside("labels.py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, (ast.Tuple, ast.List)):
                pair = [_constant(element) for element in node.elts]
                assert pair not in (["HAM", "SPAM"], ["SPAM", "HAM"]), f"{relative(path)}:{node.lineno}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sorted":
                sorted_names = {n.id for n in ast.walk(node.args[0]) if isinstance(n, ast.Name)}
                sorted_names |= {n.attr for n in ast.walk(node.args[0]) if isinstance(n, ast.Attribute)}
                assert sorted_names.isdisjoint({"classes", "class_names"}) or _sorts_numbers(node), (
                    f"{relative(path)}:{node.lineno}"
                )


def _constant(node: ast.expr) -> str:
    """HAM for HAM, labels.HAM and "ham"."""
    if isinstance(node, ast.Constant):
        return str(node.value).upper()
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _sorts_numbers(call: ast.Call) -> bool:
    """range(len(classes)) is sorted by other things than a class's name."""
    calls = {n.func.id for n in ast.walk(call) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return {"range", "len"} <= calls


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_functions_and_files_are_short_and_say_what_they_hold(path: Path) -> None:
    assert ast.get_docstring(tree(path)), "no docstring"
    assert len(path.read_text().splitlines()) <= MAX_FILE_LINES
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node):
                first = node.body[0]
                assert first.end_lineno is not None
                lines -= first.end_lineno - first.lineno + 1
            assert lines <= MAX_FUNCTION_LINES, f"{node.name}: {lines} lines"


@pytest.mark.parametrize("name", ["mail", "sources", "tokens", "vectorize", "vocabulary"])
def test_a_room_with_a_reading_order_names_all_its_files(name: str) -> None:
    order = set(re.findall(r"\w+", ast.get_docstring(tree(ROOT / name / "__init__.py")) or ""))
    assert {path.stem for path in (ROOT / name).glob("*.py")} - {"__init__"} <= order


def test_nothing_is_pickled() -> None:
    assert importers("pickle", "marshal", "shelve", "dill", "joblib") == set()


def test_errors_are_never_swallowed_by_a_bare_except() -> None:
    for path in FILES:
        for node in ast.walk(tree(path)):
            assert not (isinstance(node, ast.ExceptHandler) and node.type is None), relative(path)
