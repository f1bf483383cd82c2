"""Puts a greeting on the sign."""

from greeting import greet

WIDTH = 24


def show(name):
    return greet(name).center(WIDTH)
