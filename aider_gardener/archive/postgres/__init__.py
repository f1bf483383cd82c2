"""An archive for several machines and people: a PostgreSQL server that carries lines between archives.

Local first: a chat writes its own file and never waits for the server. It syncs in a process of its own,
which gets the environment as it was before the host read any file of the repository: no `.env` there says
where the server is. What a host itself puts into the environment of its hooks cannot be told from what the
user did: `--unasked` sends nothing to a server that is named otherwise than when its user shared the project.
No module loads a library of the server's before it is called.
"""
