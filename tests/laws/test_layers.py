"""The plan of the house: imports go down only, and what a room hides stays in it."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "nbspam"
# From the top floor down.  A room imports rooms below it, also for type checkers alone.
PLAN = """
__main__ cli serve folders sklearn passthrough tasks filter explain learning evaluation corpus store senders
decision model tokens mail tables settings labels places files limits errors __init__
"""
ROOMS = PLAN.split()
SQL = ("SELECT ", "INSERT ", "UPDATE ", "DELETE FROM", "CREATE TABLE", "PRAGMA ")


def files() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    return ".".join(("nbspam", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


@functools.cache
def imports(path: Path) -> set[str]:
    """Full names of what a file imports: `nbspam.labels.HAM`, `sqlite3`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def rooms_imported(path: Path) -> set[str]:
    names = (name.split(".") for name in imports(path))
    used = {parts[1] for parts in names if parts[0] == "nbspam" and len(parts) > 1}
    return {"__init__" if name == "__version__" else name for name in used}


def importers(*packages: str) -> set[str]:
    """The rooms that import one of these packages."""
    users = (path for path in files() if {name.partition(".")[0] for name in imports(path)} & set(packages))
    return {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in users}


def test_imports_go_down_only() -> None:
    upward = {
        (name_of(path), other)
        for path in files()
        if name_of(path) != "__init__.py"  # the API, which loads all rooms lazily
        for other in rooms_imported(path)
        if ROOMS.index(other) < ROOMS.index(path.relative_to(ROOT).parts[0].removesuffix(".py"))
    }
    assert upward == set()


def test_files_of_a_room_import_each_other_in_no_circle() -> None:
    modules = {module_of(path): imports(path) for path in files()}
    below = {
        module: {used for name in names for used in (name, name.rpartition(".")[0]) if used in modules}
        - {module, "nbspam"}
        for module, names in modules.items()
    }
    while leaves := [module for module, others in below.items() if not others & below.keys()]:
        for module in leaves:
            del below[module]
    for _ in range(len(below)):  # what only imports a circle is in none
        below = {m: o for m, o in below.items() if any(m in others for others in below.values())}
    assert not below


def test_libraries_stay_in_their_rooms() -> None:
    assert importers("sqlite3", "_sqlite3") == {"store"}
    assert importers("click") == {"cli"}
    assert importers("rich") == {"cli"}
    assert importers("imapclient", "keyring") == {"folders"}
    assert importers("socket", "socketserver", "asyncio") <= {"serve", "cli"}
    assert importers("regex") == {"tokens"}
    assert importers("sklearn") == {"sklearn"}
    assert importers("numpy", "scipy") & {"mail", "filter", "decision", "settings"} == set()
    assert importers("pickle", "marshal", "shelve", "joblib") == set()


def test_only_the_store_knows_sql() -> None:
    for path in files():
        if not name_of(path).startswith("store/"):
            texts = [n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)]
            assert [t for t in texts if isinstance(t, str) and any(verb in t for verb in SQL)] == [], path


def test_only_decision_compares_with_a_cutoff() -> None:
    """Nothing else orders a probability or log-odds by a number."""
    for path in files():
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Compare) or name_of(path) == "decision.py":
                continue
            sides = [node.left, *node.comparators]
            names = {getattr(side, "attr", getattr(side, "id", "")) for side in sides}
            ordered = any(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops)
            if ordered and names & {"probability", "log_odds", "cutoff_nats", "ham_below", "spam_above"}:
                numbers = [s for s in sides if isinstance(s, ast.Constant) and not isinstance(s.value, str)]
                assert not numbers, f"{name_of(path)}:{node.lineno}"
