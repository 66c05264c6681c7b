"""A downloaded package file: checked by its digest, read member by member, never unpacked, installed or run."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from toolkit.errors import InputError
from toolkit.formats.datasets.sets import DataSet
from toolkit.formats.files import Problem


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel on disk. No name inside it ever becomes a path, so none can lead out of a folder."""

    path: Path

    def read(self, member: str) -> bytes:
        """Return the bytes of a member.

        Raises:
            InputError: The file is no wheel, or has no such member.
        """
        try:
            with zipfile.ZipFile(self.path) as archive:
                return archive.read(member)
        except (KeyError, zipfile.BadZipFile) as error:
            raise InputError(f"{self.path.name} holds no {member}: {error}") from error

    def json(self, member: str) -> Any:
        """Return what a member of JSON says.

        Raises:
            InputError: It is no JSON.
        """
        try:
            return msgspec.json.decode(self.read(member))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{member} in {self.path.name} is no JSON in UTF-8: {error}.") from error

    def lines(self, member: str, problems: list[Problem]) -> list[Any]:
        """Return the rows of a member of JSON lines; a line that is none is noted in `problems`."""
        rows = []
        for number, line in enumerate(self.read(member).splitlines(), 1):
            try:
                rows += [msgspec.json.decode(line)] if line.strip() else []
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                problems.append(Problem(member, number, "bad_row", f"this is no JSON in UTF-8: {error}."))
        return rows


def checked(path: Path, chosen: DataSet) -> Package:
    """Return the package of a file whose digest is the pinned one.

    Raises:
        InputError: It does not exist, or holds other bytes.
    """
    if not path.is_file():
        raise InputError(f"{path} is no file.", hint=f"Expected {chosen.file}.")
    found = digest(path)
    if found != chosen.sha256:
        what = f"{path.name} has sha256 {found}, expected {chosen.sha256} ({chosen.file})."
        raise InputError(what, hint="Its content is not what was pinned: nothing of it is used.")
    return Package(path)


def digest(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
