import sys

from taller.cli import main

sys.exit(main())
