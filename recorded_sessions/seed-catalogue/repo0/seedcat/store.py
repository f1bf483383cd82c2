"""The catalogue in SQLite: one row for each packet of seed."""

import sqlite3

SCHEMA = """
CREATE TABLE IF NOT EXISTS packets (
    id INTEGER PRIMARY KEY,
    crop TEXT NOT NULL,
    variety TEXT NOT NULL,
    supplier TEXT NOT NULL DEFAULT '',
    packed TEXT NOT NULL,
    grams REAL NOT NULL DEFAULT 0
);
"""


class Catalogue:
    """The packets in a database file; ":memory:" for tests."""

    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.row_factory = sqlite3.Row
        self.db.executescript(SCHEMA)

    def add(self, crop, variety, packed, grams=0.0, supplier=""):
        """Store a packet and return its id."""
        with self.db:
            done = self.db.execute(
                "INSERT INTO packets (crop, variety, supplier, packed, grams)"
                " VALUES (?, ?, ?, ?, ?)",
                (crop, variety, supplier, packed, grams),
            )
        return done.lastrowid

    def get(self, packet_id):
        """The row of a packet, None if there is none."""
        found = self.db.execute("SELECT * FROM packets WHERE id = ?", (packet_id,))
        return found.fetchone()

    def packets(self, crop=None):
        """All packets, or those of one crop, in the order of crop and variety."""
        where, values = ("WHERE crop = ?", (crop,)) if crop else ("", ())
        return self.db.execute(
            f"SELECT * FROM packets {where} ORDER BY crop, variety, id", values
        ).fetchall()

    def remove(self, packet_id):
        """Forget a packet; False if there was none."""
        with self.db:
            done = self.db.execute("DELETE FROM packets WHERE id = ?", (packet_id,))
        return done.rowcount > 0
