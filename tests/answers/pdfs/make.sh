#!/bin/sh
# Makes the PDFs of this folder from their sources. Debian: apt-get install --no-install-recommends texlive-latex-base
# texlive-latex-recommended texlive-latex-extra libreoffice-writer fonts-liberation
set -e
cd "$(dirname "$0")"
export SOURCE_DATE_EPOCH=0
for source in *.tex; do
    pdflatex -interaction=batchmode -jobname="${source%.tex}" "\\pdfcompresslevel9\\pdfobjcompresslevel3\\input{$source}" >/dev/null 2>&1
done
soffice --headless --infilter="HTML (StarWriter)" --convert-to pdf:writer_pdf_Export ./*.html >/dev/null 2>&1
rm -f ./*.aux ./*.log
