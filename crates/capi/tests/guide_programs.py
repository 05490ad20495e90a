"""Writes the C and C++ programs of Markdown pages to files: guide_programs.py FOLDER PAGE...

A program is a fenced block of `c` or `cpp` with a `main`. Its file is named FOLDER-PAGE-NUMBER.c or .cpp; one whose fence also names a
library is FOLDER-PAGE-NUMBER.LIBRARY.cpp.
"""

import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
for page in map(pathlib.Path, sys.argv[2:]):
    blocks = re.findall(r"^```(c|cpp)( \w+)?\n(.*?)^```", page.read_text(), re.S | re.M)
    for number, (language, library, text) in enumerate(blocks):
        if "main(" in text:
            name = f"{page.resolve().parent.name}-{page.stem}-{number}{library.strip() and '.' + library.strip()}.{language}"
            (folder / name).write_text(text)
