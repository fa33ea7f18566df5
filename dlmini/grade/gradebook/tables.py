"""Tables as CSV, for spreadsheets and for other programs."""

from __future__ import annotations

import csv
import io

FORMULA = "=+-@\t\r\n＝＋－＠"  # with these it begins


def csv_text(columns: list[str], rows: list[dict]) -> str:
    """A line of names, then the rows; what a row lacks stays empty, and what has no column is left out."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: safe(cell) if isinstance(cell, str) else cell for name, cell in row.items()})
    return out.getvalue()


def read_rows(text: str, separator: str) -> list[dict]:
    """The rows below a line of names, whatever ends their lines. ValueError: it is no table."""
    try:
        return list(csv.DictReader(io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n")), delimiter=separator))
    except csv.Error as error:
        raise ValueError(str(error)) from error


def separator_of(text: str) -> str:
    """What stands between the names of columns: spreadsheets of many countries write semicolons."""
    return max(",;\t", key=text.replace("\r", "\n").partition("\n")[0].count)


def safe(text: str) -> str:
    """A text that no spreadsheet takes for a formula, also of signs of full width; one that looks safe already, too."""
    first = text.lstrip("'")[:1]
    return "'" + text if first and first in FORMULA and not is_number(text) else text


def unsafe(text: str) -> str:
    """As it was before it was made safe."""
    return text[1:] if text[:1] == "'" and safe(text[1:]) == text else text


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
