import sys

from frostwatch.cli import main

sys.exit(main(sys.argv[1:]))
