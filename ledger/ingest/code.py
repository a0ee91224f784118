"""The digest of a tree of code, ``code_sha256``: what was measured, whatever a version control system says of it.

All regular files of some folders, tracked or not, but compiled Python: sorted in one list by the *parts* of their paths
("sub/x" before "sub-b"), each as its path from the root in UTF-8, a zero byte, its contents, a zero byte.

A folder that is missing counts as empty, as in the definition, but a tree without any file is refused: its digest
would be that of nothing. Symbolic links are refused: what they lead to is not in the tree, and may change without it.
Modes, empty folders and everything outside these folders are not covered.

Source: row3.py of the TandemLLM project.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ledger.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FOLDERS = ("engine", "server", "tools", "ops")
_LEFT_OUT = ("__pycache__", ".git")
_BLOCK = 1 << 20


def tree_digest(root: Path, folders: Sequence[str] = FOLDERS) -> str:
    """SHA-256 (hex) of the code below some folders of a root.

    Raises:
        RefusedError: ``E_CODE_EMPTY`` when there is no file, ``E_CODE_LINK`` for a symbolic link or anything else
            that is no regular file, ``E_CODE_NAME`` for a name that is not UTF-8.
        OSError: a file cannot be read.
    """
    paths = sorted({path for name in folders for path in _files(root / name)}, key=lambda path: path.parts)
    if not paths:
        wanted = ", ".join(folders)
        raise RefusedError("E_CODE_EMPTY", f"no file below {wanted}: the digest of nothing is no code", where=str(root))
    total = hashlib.sha256()
    for path in paths:
        total.update(_name(path, root) + b"\0")
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                total.update(block)
        total.update(b"\0")
    return total.hexdigest()


def code_folders(root: Path, names: Sequence[str] | None = None) -> Sequence[str]:
    """The folders of a tree that are its code: those that are named, or all of `FOLDERS` where the tree has them all.

    Raises:
        RefusedError: ``E_CODE_FOLDERS``: one is not there, or none is named and nobody could tell which part was meant.
    """
    absent = [name for name in names or FOLDERS if not name or not (root / name).is_dir()]
    if not absent:
        return names or FOLDERS
    if names:
        raise RefusedError("E_CODE_FOLDERS", f"there is no folder {', '.join(absent)!r}", where=str(root))
    raise RefusedError(
        "E_CODE_FOLDERS",
        f"which folders are the code? There is no {', '.join(absent)}; give {root}:src,include, or {root}:. for all",
        where=str(root),
    )


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_symlink():
        raise _refused(folder)
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name in _LEFT_OUT or path.suffix == ".pyc":
            continue
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise _refused(path)
        if path.is_dir():
            yield from _files(path)
        else:
            yield path


def _refused(path: Path) -> RefusedError:
    return RefusedError("E_CODE_LINK", "a link, or no regular file: what it gives is not in the tree", where=str(path))


def _name(path: Path, root: Path) -> bytes:
    try:
        return path.relative_to(root).as_posix().encode("utf-8")
    except UnicodeEncodeError as err:
        raise RefusedError("E_CODE_NAME", f"a name that is not UTF-8: {path!r}", where=str(root)) from err
