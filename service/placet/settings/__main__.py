"""Print `deploy/env.example`: ``python -m placet.settings > deploy/env.example``."""

import sys

from placet.settings.example import env_example

sys.stdout.write(env_example())
