"""Greetings for a door sign."""

DEFAULT_NAME = "visitor"


def greet(name=DEFAULT_NAME):
    return "Hello " + name
