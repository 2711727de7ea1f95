"""Structured logs: ours and every library's through one chain, one line per event.

A line is JSON, or aligned text with colours for a person at a terminal. It carries the request id, a UTC
time, the level and the logger's name; `placet.observability.scrubbing` has the last word on its content.
"""

import contextlib
import logging
from typing import Final, TextIO

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor, WrappedLogger

from placet.domain.text import visible
from placet.observability.context import request_id
from placet.observability.scrubbing import scrub
from placet.settings import LogFormat, LogSettings

# uvicorn gives these handlers of their own unless it is told not to.
_FOREIGN_LOGGERS: Final = ("uvicorn", "uvicorn.access", "uvicorn.error", "litestar")
# They have a line at `info` for each request that they make, with its address.
_QUIET_LOGGERS: Final = ("httpx",)
_MANY_LINES: Final = frozenset({"exception", "stack"})


def configure(settings: LogSettings, stream: TextIO) -> None:
    """Send all logging of the process to one stream.

    Libraries log from `info` up at most, whatever the level: their debug lines hold requests and replies.

    Args:
        settings: level and format.
        stream: where lines go, usually standard error; the format `auto` asks whether it is a terminal.
    """
    level = getattr(logging, settings.level.upper())
    about: list[Processor] = [
        _add_request_id,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*about, ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = _Handler(stream)
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), _drop_markup, *about],
            processors=[
                ProcessorFormatter.remove_processors_meta,
                # Text without the values of locals, in both formats.
                structlog.processors.format_exc_info,
                scrub,
                *_rendering(settings.format, is_terminal=stream.isatty()),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(level, logging.INFO))
    logging.getLogger("placet").setLevel(level)
    for name in _QUIET_LOGGERS:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    for name in _FOREIGN_LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.setLevel(logging.NOTSET)
        logger.propagate = True


def _rendering(chosen: LogFormat, *, is_terminal: bool) -> list[Processor]:
    if chosen is LogFormat.JSON or (chosen is LogFormat.AUTO and not is_terminal):
        return [structlog.processors.JSONRenderer()]
    return [
        _show_hostile_text,
        structlog.dev.ConsoleRenderer(
            colors=is_terminal, exception_formatter=structlog.dev.plain_traceback, pad_event_to=0
        ),
    ]


def _add_request_id(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    if (current := request_id()) is not None:
        event.setdefault("request_id", current)
    return event


def _drop_markup(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Leave out uvicorn's second copy of the message, which has colours in it."""
    event.pop("color_message", None)
    return event


def _show_hostile_text(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Keep foreign text from steering the terminal or faking a line; JSON escapes by itself."""
    return {
        name: visible(value, multiline=name in _MANY_LINES) if isinstance(value, str) else value
        for name, value in event.items()
    }


class _Handler(logging.StreamHandler[TextIO]):
    """Writes lines, and says that one was lost without saying what was in it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (the standard library's name)
        """Replace the standard report, which prints the arguments unscrubbed."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(f'{{"event": "a log line of {record.name} was lost", "level": "error"}}\n')
