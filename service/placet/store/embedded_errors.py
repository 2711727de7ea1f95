"""What can go wrong with the embedded store, and what to do about it.

These are faults of starting and owning a store, met by whoever runs ``placet``; they never reach
a caller of the API. Every message says what to do next.
"""
# ruff: noqa: N818 - the names say what happened to the store: refused, busy, unavailable

from __future__ import annotations


class EmbeddedError(Exception):
    """The embedded store can't be used."""


class EmbeddedUnavailable(EmbeddedError):
    """No Valkey binary is installed for this platform."""


class DataDirRefused(EmbeddedError):
    """The data directory is not private to this user, or can't serve as one."""


class DataDirBusy(EmbeddedError):
    """Another process owns the data directory, or a server it left behind still does."""


class NotRunning(EmbeddedError):
    """No process owns the data directory, so that there is nothing to attach to."""


class StartFailed(EmbeddedError):
    """Valkey was started and did not become ready; the message quotes the end of its log."""
