"""``python -m placet``: the same as the command ``placet``."""

import sys

from placet.cli import main

sys.exit(main())
