"""What the README repeats from the code is what the code says."""

from pathlib import Path

from placet.domain.error_docs import markdown_table

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_table_of_errors_is_the_one_table() -> None:
    """The README's table is made from the error classes."""
    shown = README.split("<!-- errors -->\n")[1].split("<!-- /errors -->")[0]
    assert shown.strip() == markdown_table().strip()
