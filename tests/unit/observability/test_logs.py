"""Log lines: one chain for all loggers, JSON or console, nothing hostile and nothing secret in them."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from placet.observability.context import bound_request_id
from placet.observability.logs import configure
from placet.settings import LogFormat, LogLevel, LogSettings


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _restored_logging() -> Iterator[None]:
    """Give the process its logging back."""
    loggers = [
        logging.getLogger(name)
        for name in ("", "placet", "httpx", "uvicorn", "uvicorn.access", "uvicorn.error")
    ]
    before = [(logger, logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    yield
    for logger, handlers, level, propagate in before:
        logger.handlers[:] = handlers
        logger.setLevel(level)
        logger.propagate = propagate
    structlog.reset_defaults()


def _lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def _json_log(level: LogLevel = LogLevel.INFO) -> io.StringIO:
    stream = io.StringIO()
    configure(LogSettings(level=level, format=LogFormat.JSON), stream)
    return stream


def test_a_json_line_says_what_when_where_and_for_which_request() -> None:
    """One object per line."""
    stream = _json_log()
    with bound_request_id("r-1"):
        structlog.get_logger("placet.api").info("decided", status="approved")
    (line,) = _lines(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "decided",
        "status": "approved",
        "level": "info",
        "logger": "placet.api",
        "request_id": "r-1",
    }


def test_lines_of_the_standard_library_go_the_same_way() -> None:
    """Arguments are filled in, extras kept, the request id added."""
    stream = _json_log()
    with bound_request_id("r-2"):
        logging.getLogger("placet.store").warning("batch of %d failed", 3, extra={"fault": "TimeoutError"})
    (line,) = _lines(stream)
    assert (line["event"], line["level"], line["logger"], line["fault"], line["request_id"]) == (
        "batch of 3 failed",
        "warning",
        "placet.store",
        "TimeoutError",
        "r-2",
    )


def test_uvicorn_loses_its_own_handlers() -> None:
    """Its lines come once, through our chain, without their coloured copy."""
    own = logging.StreamHandler(io.StringIO())
    logger = logging.getLogger("uvicorn.error")
    logger.addHandler(own)
    logger.propagate = False
    stream = _json_log()
    logger.info("Started", extra={"color_message": "\x1b[1mStarted"})
    (line,) = _lines(stream)
    assert line["event"] == "Started"
    assert "color_message" not in line


def test_the_level_is_ours_and_libraries_stay_at_info() -> None:
    """Debug lines of libraries hold requests and replies."""
    stream = _json_log(LogLevel.DEBUG)
    logging.getLogger("placet.api").debug("ours")
    structlog.get_logger("placet.api").debug("ours too")
    logging.getLogger("httpcore.http11").debug("send_request_headers.started")
    assert [line["event"] for line in _lines(stream)] == ["ours", "ours too"]


def test_what_we_ask_others_is_in_no_line() -> None:
    """Of a library that tells of each request only what is amiss is told."""
    stream = _json_log()
    logging.getLogger("httpx").info('HTTP Request: POST https://login.example.com/token "HTTP/1.1 200 OK"')
    logging.getLogger("httpx").warning("amiss")
    assert [line["event"] for line in _lines(stream)] == ["amiss"]


def test_a_higher_level_holds_for_everyone() -> None:
    """A quiet service is quiet."""
    stream = _json_log(LogLevel.ERROR)
    logging.getLogger("httpx").warning("no")
    logging.getLogger("placet.api").warning("no")
    logging.getLogger("redis").warning("no")
    logging.getLogger("redis").error("yes")
    assert [line["event"] for line in _lines(stream)] == ["yes"]


def test_secrets_and_inputs_are_in_no_line() -> None:
    """Neither by name, nor in the text, nor in the arguments of a library."""
    stream = _json_log()
    structlog.get_logger("placet.api").info("asked", input={"card": "4111"}, token="hunter2")
    logging.getLogger("uvicorn.error").error(
        "bad header %s", {"authorization": "Bearer hunter2hunter2hunter2"}
    )
    logging.getLogger("redis").error("plc_default_k_hunter2")
    assert "hunter2" not in stream.getvalue()
    assert "4111" not in stream.getvalue()


@pytest.mark.parametrize("chosen", [LogFormat.JSON, LogFormat.CONSOLE])
def test_a_traceback_has_no_values_of_locals(chosen: LogFormat) -> None:
    """It says where and what, not with which data; credentials in the message are hidden."""
    stream = io.StringIO()
    configure(LogSettings(format=chosen), stream)

    def fail(data: str) -> None:
        raise ValueError(f"bad {data[:3]} plc_default_k_{data}")

    number = str(2**64)  # not in the source, which a traceback quotes
    try:
        fail(number)
    except ValueError:
        structlog.get_logger("placet.api").exception("failed")
        logging.getLogger("uvicorn.error").exception("failed")
    text = stream.getvalue()
    assert text.count("ValueError: bad 184 [hidden]") == 2
    assert number not in text


def test_a_json_line_is_ascii_and_one_line() -> None:
    """No terminal and no collector is steered by what somebody sent."""
    stream = _json_log()
    structlog.get_logger("placet.api").info("hostile\n\x1b[31m", name="\u202eevil\ud800")
    assert stream.getvalue().isascii()
    assert stream.getvalue().count("\n") == 1
    assert _lines(stream)[0]["event"] == "hostile\n\x1b[31m"


def test_a_console_line_shows_hostile_text() -> None:
    """A person at a terminal sees one line, and what is in it."""
    stream = io.StringIO()
    configure(LogSettings(format=LogFormat.CONSOLE), stream)
    structlog.get_logger("placet.api").info("hostile\n\x1b[31m", name="\u202eevil")
    assert "hostile⟨U+000A⟩⟨U+001B⟩[31m" in stream.getvalue()
    assert "name=⟨U+202E⟩evil" in stream.getvalue()
    assert stream.getvalue().count("\n") == 1


def test_auto_is_console_with_colour_on_a_terminal() -> None:
    """A person gets colours."""
    stream = _Terminal()
    configure(LogSettings(format=LogFormat.AUTO), stream)
    structlog.get_logger("placet.api").info("hello")
    assert "\x1b[" in stream.getvalue()


def test_auto_is_json_elsewhere() -> None:
    """A collector gets JSON."""
    stream = io.StringIO()
    configure(LogSettings(format=LogFormat.AUTO), stream)
    structlog.get_logger("placet.api").info("hello")
    assert _lines(stream)[0]["event"] == "hello"


def test_console_without_a_terminal_has_no_colour() -> None:
    """A file gets no escape sequences."""
    stream = io.StringIO()
    configure(LogSettings(format=LogFormat.CONSOLE), stream)
    structlog.get_logger("placet.api").info("hello")
    assert "\x1b" not in stream.getvalue()


def test_a_lost_line_says_so_without_its_content(capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake in a call of the logger prints nothing unscrubbed."""
    stream = _json_log()
    logging.getLogger("placet.api").error("%d", "hunter2")
    assert _lines(stream) == [{"event": "a log line of placet.api was lost", "level": "error"}]
    assert capsys.readouterr() == ("", "")


def test_a_closed_stream_stops_nobody() -> None:
    """Logging never breaks the service."""
    stream = _json_log()
    stream.close()
    logging.getLogger("placet.api").error("hello")
