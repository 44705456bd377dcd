"""Makes the stored PDFs anew: by pdflatex, and by LibreOffice's word processor.

    apt install texlive-latex-extra libreoffice-writer
    python -m benchmarks.forms.stored_pdfs

pdflatex makes the same bytes every time; LibreOffice writes the date and an identifier into its files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

import yaml

from benchmarks.forms.corpus import SHEETS, sheet
from benchmarks.forms.every_form import PDFS
from benchmarks.forms.exam_form import exam
from benchmarks.forms.latex_forms import sections
from benchmarks.forms.word_form import word

MADE_FROM = PDFS / "made_from.yaml"  # the hash of each source: a PDF of earlier answers is noticed
_LONG_AGO = "1700000000"  # seconds since 1970, for programs that write the date into what they make


def sources() -> dict[str, str]:
    """What every stored PDF is made from, by its name."""
    return {
        f"{name}_{form}.pdf": render(sheet(name))
        for name in SHEETS
        for form, render in (("sections", sections), ("exam", exam), ("word", word))
    }


def hashes() -> dict[str, str]:
    return {name: sha256(text.encode()).hexdigest() for name, text in sources().items()}


def main() -> None:
    PDFS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources().items():
            make = _by_word_processor if name.endswith("_word.pdf") else _by_latex
            shutil.copyfile(make(Path(folder) / name, text), PDFS / name)
    MADE_FROM.write_text(yaml.safe_dump(hashes()), encoding="utf-8")


def _by_latex(pdf: Path, text: str) -> Path:
    source = pdf.with_suffix(".tex")
    source.write_text(text, encoding="utf-8")
    # The identifier of a file would depend on its folder.
    command = ["pdflatex", "-halt-on-error", "-interaction=batchmode", f"\\pdftrailerid{{}}\\input{{{source.name}}}"]
    for _ in range(2):  # the first run writes the numbers of pages that the second reads
        subprocess.run(
            [command[0], f"-jobname={source.stem}", *command[1:]], cwd=source.parent, check=True, env=_fixed()
        )
    return pdf


def _by_word_processor(pdf: Path, text: str) -> Path:
    source = pdf.with_suffix(".html")
    source.write_text(text, encoding="utf-8")
    profile = f"-env:UserInstallation=file://{source.parent}/profile"
    convert = ["--headless", "--infilter=HTML (StarWriter)", "--convert-to", "pdf:writer_pdf_Export", source.name]
    subprocess.run(["soffice", profile, *convert], cwd=source.parent, check=True)
    return pdf


def _fixed() -> dict[str, str]:
    return {**os.environ, "SOURCE_DATE_EPOCH": _LONG_AGO, "FORCE_SOURCE_DATE": "1"}


if __name__ == "__main__":
    main()
