"""How this command was invoked, for the commands that are told to be typed next."""

import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

_NAME: Final = "placet"


def placet(path: str | None = None, *, found: str | None = None) -> str:
    """What to type for ``placet`` in a shell: the name where the ``PATH`` has it, else as it was typed.

    Args:
        path: What was started; this process's own by default.
        found: What the name leads to; what the ``PATH`` has by default.
    """
    started = Path(sys.argv[0] if path is None else path)
    if started.name == "__main__.py" and started.parent.name == _NAME:
        return f"{shlex.quote(sys.executable)} -m {_NAME}"
    known = found or shutil.which(_NAME)
    if started.name != _NAME or (known is not None and Path(known).resolve() == started.resolve()):
        return _NAME
    return shlex.quote(str(started))
