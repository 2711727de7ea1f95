"""Python's garbage collector, in a service that runs for long."""

import gc


def leave_alone_what_stays() -> None:
    """Have the collector never again go through what has been loaded by now: it stays for good.

    Calls that are under way make it believe again and again that much is new, and it would look at
    everything, which costs a call a tenth to a fifth of its time.
    """
    gc.collect()
    gc.freeze()
