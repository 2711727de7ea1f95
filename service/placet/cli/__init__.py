"""The command line: what operators and approvers type.

Only what every installation has is imported here. The module of a command is imported when the command
is given, so that asking, reading and deciding work without the server's libraries.
"""

from placet.cli.program import main

__all__ = ["main"]
