"""Reads packets from a CSV file."""

import csv


def read_packets(path):
    """The packets of a file as dicts."""
    packets = []
    with open(path) as file:
        for row in csv.DictReader(file):
            packets.append(
                {
                    "crop": row["crop"],
                    "variety": row["variety"],
                    "packed": row["packed"],
                    "grams": float(row["grams"]),
                }
            )
    return packets


def import_file(catalogue, path):
    """Put every packet of a file into the catalogue; how many there were."""
    packets = read_packets(path)
    for packet in packets:
        catalogue.add(**packet)
    return len(packets)
