"""Compression by class: one module per kind of text, chosen through a registry.

`registry.compress_text` serves one text of one class, `message.compress_message` a whole message by its
segments, `line.line_form` gives a message's one-line form. All are pure: same arguments, same result, no I/O.
"""
