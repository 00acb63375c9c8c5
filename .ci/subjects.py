"""Check the subjects of the last commits: one purpose each, in at most 60 characters.

python3 .ci/subjects.py [subject]    without one those of the repository
"""

import subprocess
import sys
from pathlib import Path

MOST = 60
LAST = 50  # commits that are looked at
BARE = {"Bring", "Embed", "Exceed", "Feed", "Need", "Proceed", "Seed", "Speed", "Swing"}
"""Verbs in the imperative that end as others do in the past, or as participles."""


def find_faults(subject: str) -> list[str]:
    """Return what is wrong with the subject of a commit, in words; nothing if it is right."""
    first = subject.partition(" ")[0]
    faults = {
        f"has {len(subject)} characters: {MOST} at most": len(subject) > MOST,
        "joins several purposes by ';': make a commit of each": ";" in subject,
        "begins with a small letter": not subject[:1].isupper(),
        "ends with a full stop": subject.endswith("."),
        f"begins with {first!r}: say what the commit does by an imperative": (
            first.endswith(("ed", "ing")) and first not in BARE
        ),
    }
    return [fault for fault, is_there in faults.items() if is_there]


def read_subjects(folder: Path) -> list[str]:
    """Return the subjects of the last commits, without merges; none outside a repository."""
    command = ["git", "log", "--no-merges", f"--max-count={LAST}", "--format=%s"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def main(*given: str) -> int:
    """Print what is wrong with subjects; return 1 if something is."""
    subjects = given or read_subjects(Path(__file__).resolve().parents[1])
    faults = [(x, fault) for x in subjects for fault in find_faults(x)]
    for subject, fault in faults:
        print(f"commit {subject!r} {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
