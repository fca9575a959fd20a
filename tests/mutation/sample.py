"""Changes the code that measures and that reads in one small place at a time, and counts which changes a test sees.

    python -m tests.mutation.sample [--mutants 300] [--seed 1] [--json FILE] [--survivors] [--work FOLDER]

Every mutant that Cosmic Ray's operators make of selfdiag/measure and selfdiag/elicit is listed, a seeded sample is
drawn, all with the same chance, and each of it is run against the tests of tests/measure and tests/elicit that reach
it, in a copy of the project. The exit code is 1 when fewer than 85 % are killed. It takes one core half an hour, and a
connection to a package index; what is interrupted goes on from there when the same command is given again. FILE gets
every mutant with its verdict and its difference; with ``--survivors``, only those are run again that survived in FILE,
after tests were added. FOLDER keeps the environment and the copy, which are deleted at the end otherwise.

Which tests reach a mutant is found by running all of them once under coverage: those that run a line of its statement.
Where that runs once, as while modules are loaded, it is those that run any line of the module or of one that imports
it, and all of test files that import it. What tests do in a process of their own does not count. The file named after
the module comes first, then the one with most of these tests; within it, the fastest.

A mutant is killed when a test fails, when the tests cannot be loaded or when Python crashes. It is timed out, and
counted as killed, when a test takes ten times its processor time and ten seconds. Left out are mutants that Python
does not compile without complaint, which are counted as incompetent; annotations and aliases of types, and what only
type checkers read; and the removal of a cache, which nobody sees in a result. No operator touches a text, be it a
docstring, a word for people or a regular expression.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coverage import CoverageData

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("selfdiag/measure", "selfdiag/elicit")
TESTS = ("tests/measure", "tests/elicit")
COPIED = ("selfdiag", "tests", "probes", "docs", "pyproject.toml", "README.md")
TOOL = "cosmic-ray==8.7.0"
"""One version, because another may list other mutants and so draw others."""
WANTED = 0.85
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:randomly")
PLUGIN = ("-p", "tests.mutation.chosen_tests")

Mutant = dict[str, Any]


def digest(*folders: str) -> str:
    """Return the SHA-256 of all Python files of some folders of the checkout."""
    found = hashlib.sha256()
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def checksum(module: bytes) -> str:
    return hashlib.sha256(module).hexdigest()[:16]


def copied(work: Path) -> Path:
    """Return a copy of what the tests need of the project; one that is there already is used again."""
    copy = work / "copy"
    if not copy.exists():
        half = work / "half"
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir()
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, half / name, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
            else:
                shutil.copy2(ROOT / name, half / name)
        half.rename(copy)
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        place = copy / path.relative_to(ROOT)
        if place.read_bytes() != path.read_bytes():  # a run that was killed leaves its mutant there
            shutil.copy2(path, place)
    return copy


def drawn(base: Path, copy: Path, number: int, seed: int) -> dict[str, Any]:
    """Return the sample, drawn by Cosmic Ray's operators in an environment of their own."""
    python = base / "env/bin/python"
    if not (base / "env/installed").exists():
        print(f"installing {TOOL}", flush=True)
        venv.create(base / "env", with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", TOOL]
        subprocess.run(pip, check=True)
        (base / "env/installed").touch()
    script = copy / "tests/mutation/mutants.py"
    words = [str(python), "-B", str(script), str(copy), str(number), str(seed), *PACKAGES]
    found: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return found


class Reach:
    """Which tests reach a line, from one run of all of them under coverage.

    Args:
        work: the folder for what is found, which is used when it is there.
        copy: the project.
    """

    def __init__(self, work: Path, copy: Path) -> None:
        times, data = work / "times.json", work / "coverage"
        if not times.exists():
            print("running all tests once", flush=True)
            data.unlink(missing_ok=True)
            cover = ["--cov=selfdiag.measure", "--cov=selfdiag.elicit", "--cov-context=test", "--cov-report="]
            words = [*PYTEST, *PLUGIN, f"--times={times}", *cover, *TESTS]
            environment = os.environ | {"PYTHONPATH": str(copy), "COVERAGE_FILE": str(data)}
            done = subprocess.run(words, cwd=copy, env=environment, check=False, capture_output=True, text=True)
            if done.returncode not in {0, 1}:
                times.unlink(missing_ok=True)
                raise SystemExit(f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
        found = json.loads(times.read_text(encoding="utf-8"))
        for name in found["failed"]:
            print(f"left out, because it fails with nothing changed: {name}")
        self.seconds = {name: took for name, took in found["seconds"].items() if name not in found["failed"]}
        self.copy = copy
        covered = CoverageData(str(data))
        covered.read()
        self.lines = {
            str(Path(path).relative_to(copy)): covered.contexts_by_lineno(path) for path in covered.measured_files()
        }
        if not self.lines:
            raise SystemExit("the tests did not run the copy")

    def tests(self, mutant: Mutant) -> dict[str, float]:
        """Return the tests to run and how many seconds each takes, in the order in which to run them."""
        file = mutant["file"]
        first, last, once = self._statement(file, *mutant["lines"])
        lines = self.lines.get(file, {})
        contexts = {context for line in range(first, last + 1) for context in lines.get(line, ())}
        names = {context.rpartition("|")[0] for context in contexts}
        if once or "" in contexts:
            found = (self.lines[one].values() for one in self._importers(file, self.lines))
            names |= {context.rpartition("|")[0] for lists in found for contexts in lists for context in contexts}
            importing = self._importers(file, {name.partition("::")[0] for name in self.seconds})
            names |= {name for name in self.seconds if name.partition("::")[0] in importing}
        names &= self.seconds.keys()
        module, files = Path(file).stem, Counter(name.partition("::")[0] for name in names)

        def place(name: str) -> tuple[bool, int, str, float]:
            home = name.partition("::")[0]
            return module not in home, -files[home], home, self.seconds[name]

        return {name: self.seconds[name] for name in sorted(names, key=place)}

    def _statement(self, file: str, first: int, last: int) -> tuple[int, int, bool]:
        """Return the lines of the smallest statement around a place, without its body, and whether it runs once."""
        found, once = (first, last), True
        for node in ast.walk(ast.parse((self.copy / file).read_text(encoding="utf-8"))):
            if not isinstance(node, ast.stmt):
                continue
            body, end = getattr(node, "body", None), node.end_lineno or node.lineno
            start = min((one.lineno for one in getattr(node, "decorator_list", ())), default=node.lineno)
            header = max(body[0].lineno - 1, node.lineno) if body else end
            if start <= first and last <= header:
                found = start, header
            elif isinstance(node, ast.FunctionDef) and header < first and last <= end:
                once = any(isinstance(one, ast.Name) and one.id == "cache" for one in node.decorator_list)
        return *found, once

    def _importers(self, file: str, among: Iterable[str]) -> set[str]:
        """Return the files that import a module, and the module itself, among some."""
        path = Path(file)
        package = ".".join(path.parent.parts)
        named = re.compile(
            rf"^\s*from {package}\.{path.stem} import|^\s*from {package} import [^\n]*\b{path.stem}\b", re.MULTILINE
        )
        return {one for one in among if one == file or named.search((self.copy / one).read_text(encoding="utf-8"))}


def verdict(mutant: Mutant, reach: Reach, work: Path) -> Mutant:
    """Return what becomes of a mutant: its place and difference, the verdict, and the test that killed it."""
    path = reach.copy / mutant["file"]
    tests = reach.tests(mutant)
    original, stat = path.read_text(encoding="utf-8"), path.stat()
    changed = difflib.unified_diff(original.splitlines(), mutant["source"].splitlines(), lineterm="", n=0)
    result = {name: mutant[name] for name in ("file", "lines", "operator", "occurrence")}
    result |= {"module": checksum(original.encode())}
    result |= {"diff": [line for line in changed if not line.startswith(("---", "+++", "@@"))], "tests": len(tests)}
    begin = time.monotonic()
    outcome = "survived", ""
    try:
        path.write_text(mutant["source"], encoding="utf-8")
        # loading all test files takes seconds, and the first kills most mutants
        first = next(iter(tests), "").partition("::")[0]
        for part in (True, False):
            chosen = {name: took for name, took in tests.items() if (name.partition("::")[0] == first) is part}
            if chosen and outcome[0] == "survived":
                outcome = tested(chosen, reach.copy, work)
    finally:
        path.write_text(original, encoding="utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return result | {"verdict": outcome[0], "by": outcome[1], "seconds": round(time.monotonic() - begin, 1)}


def tested(tests: dict[str, float], copy: Path, work: Path) -> tuple[str, str]:
    """Run tests, whose usual seconds are given, and return ``killed``, ``survived`` or ``timed out``, and by what."""
    chosen = work / "chosen.json"
    chosen.write_text(json.dumps(tests), encoding="utf-8")
    files = dict.fromkeys(name.partition("::")[0] for name in tests)
    words = [*PYTEST, *PLUGIN, f"--chosen={chosen}", "-x", "-p", "no:cov", "--hypothesis-seed=0", "--tb=line", *files]
    # bytecode is told by size and second of the source: a mutant's would be taken for another's
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    limit = 120 + 30 * sum(tests.values())
    try:
        done = subprocess.run(
            words, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return "timed out", ""
    finally:
        shutil.rmtree(copy / ".hypothesis/examples", ignore_errors=True)
    said = done.stdout + done.stderr
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$|^(ImportError while loading conftest)", said, re.MULTILINE)
    if done.returncode in {0, 5}:  # 5: the tests that reached it are no more, as when it empties a table of cases
        return "survived", ""
    if done.returncode == -signal.SIGPROF:
        return "timed out", ""
    if done.returncode < 0:
        return "killed", signal.Signals(-done.returncode).name
    if not failed:
        raise SystemExit(f"pytest ended with {done.returncode}:\n{said[-3000:]}")
    return "killed", failed[1] or failed[2]


def key(mutant: Mutant) -> tuple[str, str, int]:
    return mutant["file"], mutant["operator"], mutant["occurrence"]


def earlier(file: Path, state: str, copy: Path, *, survivors: bool) -> dict[tuple[str, str, int], Mutant]:
    """Return the results of a file that still hold.

    That is all while no code and no test has changed; when only survivors are to be run again, what was killed in
    modules that have not changed.
    """
    if not file.exists():
        return {}
    found = json.loads(file.read_text(encoding="utf-8"))
    same = found["state"] == state
    return {
        key(one): one
        for one in found["results"]
        if same
        or (survivors and one["verdict"] != "survived" and one["module"] == checksum((copy / one["file"]).read_bytes()))
    }


def tell(results: list[Mutant], incompetent: int) -> bool:
    """Print the survivors and the counts, and return whether enough are killed."""
    for one in sorted(results, key=lambda one: (one["file"], one["lines"])):
        if one["verdict"] == "survived":
            print(
                f"\n{one['file']}:{one['lines'][0]}  {one['operator']}, {one['tests']} tests", *one["diff"], sep="\n  "
            )
    print()
    for package in PACKAGES:
        counts = Counter(one["verdict"] for one in results if one["file"].startswith(f"{package}/"))
        print(f"{package}: " + ", ".join(f"{counts[name]} {name}" for name in ("killed", "survived", "timed out")))
    counts = Counter(one["verdict"] for one in results)
    parts = ", ".join(f"{counts[name]} {name}" for name in ("killed", "survived", "timed out"))
    print(f"{len(results)} mutants: {parts}; {incompetent} more incompetent")
    share = 1 - counts["survived"] / len(results)
    print(f"{'✓' if share >= WANTED else '✗'} {share:.1%} killed, at least {WANTED:.0%} wanted")
    return share >= WANTED


def main() -> int:
    """Draw the sample, run what no earlier run has done, and end with 1 when too few mutants are killed."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--mutants", type=int, default=300, metavar="N")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--json", type=Path, metavar="FILE", help="every mutant, its difference and its verdict")
    words.add_argument("--survivors", action="store_true", help="run only the survivors of FILE again")
    words.add_argument("--work", type=Path, metavar="FOLDER", help="keep the environment and the copy there")
    asked = words.parse_args()
    state = digest(*PACKAGES, *TESTS)
    base = (asked.work or Path(tempfile.gettempdir(), "selfdiag-mutation")).resolve()
    work = base / state[:16]
    work.mkdir(parents=True, exist_ok=True)
    file = asked.json or work / "results.json"
    copy = copied(work)
    found = drawn(base, copy, asked.mutants, asked.seed)
    done = earlier(file, state, copy, survivors=asked.survivors)
    run_before = sum(key(mutant) in done for mutant in found["drawn"])
    print(f"{len(found['drawn'])} of {found['of']} mutants, {run_before} of them run before", flush=True)
    reach = Reach(work, copy)
    for number, mutant in enumerate(found["drawn"], 1):
        if key(mutant) in done:
            continue
        one = done[key(mutant)] = verdict(mutant, reach, work)
        place = f"{one['file']}:{one['lines'][0]}"
        print(f"{number:4} {one['verdict']:9} {one['seconds']:5.1f} s  {place}  {one['by']}", flush=True)
        document = {"state": state, "results": [*done.values()]}
        half = file.with_name(f"{file.name}.half")
        half.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")
        half.replace(file)
    enough = tell([done[key(mutant)] for mutant in found["drawn"]], found["incompetent"])
    if asked.work is None:
        shutil.rmtree(base)
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
