"""Command line."""

import argparse

from frostwatch import readings, report, rules, windows


def main(arguments):
    parser = argparse.ArgumentParser(prog="frostwatch")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("report", "alerts", "gaps"):
        command = commands.add_parser(name)
        command.add_argument("file")
        command.add_argument("--window", type=int, default=15)
        command.add_argument("--rules", default="data/rules.json")
    options = parser.parse_args(arguments)
    with open(options.file, encoding="utf-8") as file:
        found, bad = readings.read(file)
    for line in bad:
        print(f"skipped {line}")
    summed = windows.windows(found, options.window)
    if options.command == "report":
        print(report.table(summed))
    elif options.command == "alerts":
        alerts = rules.evaluate(rules.load_rules(options.rules), summed)
        print(report.alert_lines(alerts))
        return 3 if any(alert.severity == "page" for alert in alerts) else 0
    else:
        for house, sensor, start, end in windows.gaps(found):
            print(f"{house} {sensor} silent from {start:%H:%M} to {end:%H:%M}")
    return 0
