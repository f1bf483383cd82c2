"""An archive shared by several machines and people: a PostgreSQL server beside the SQLite file of each.

Local first: a chat writes its own file and never waits for the server. What is new goes there by number and
comes back by number; importing this opens nothing and loads no library of the server's.
"""
