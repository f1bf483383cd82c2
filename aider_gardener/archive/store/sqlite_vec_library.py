"""sqlite-vec, where it is installed and this SQLite can load it: distances between vectors in SQL."""

from __future__ import annotations

import importlib
import importlib.util

import apsw

PACKAGE = "sqlite_vec"


def loaded(db: apsw.Connection) -> bool:
    """Load the extension into a connection, once; whether its functions can be used there."""
    try:
        return bool(db.execute("SELECT vec_version()").get)
    except apsw.SQLError:
        return _load(db)


def _load(db: apsw.Connection) -> bool:
    if importlib.util.find_spec(PACKAGE) is None:
        return False
    try:
        place = importlib.import_module(PACKAGE).loadable_path()
        db.enable_load_extension(True)
        try:
            db.load_extension(place)
        finally:
            db.enable_load_extension(False)
    except (apsw.Error, AttributeError, OSError, ImportError):
        return False
    return True
