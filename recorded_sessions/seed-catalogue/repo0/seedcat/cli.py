"""The command line."""

import argparse

from seedcat.importer import import_file
from seedcat.store import Catalogue


def parser():
    """The arguments of the command line."""
    top = argparse.ArgumentParser(prog="seedcat", description=__doc__)
    top.add_argument("--db", default="cupboard.db", help="the database file")
    commands = top.add_subparsers(dest="command", required=True)

    add = commands.add_parser("add", help="store a packet")
    add.add_argument("crop")
    add.add_argument("variety")
    add.add_argument("--packed", required=True, help="YYYY-MM")
    add.add_argument("--grams", type=float, default=0.0)

    show = commands.add_parser("list", help="show the packets")
    show.add_argument("--crop")

    load = commands.add_parser("import", help="read a CSV file")
    load.add_argument("file")
    return top


def main(arguments=None):
    """Do what the command line says."""
    options = parser().parse_args(arguments)
    catalogue = Catalogue(options.db)
    if options.command == "add":
        print(catalogue.add(options.crop, options.variety, options.packed, options.grams))
    elif options.command == "list":
        for row in catalogue.packets(options.crop):
            print(f"{row['id']:4} {row['crop']:12} {row['variety']:24} {row['packed']} {row['grams']:g}")
    elif options.command == "import":
        print(import_file(catalogue, options.file), "packets")
