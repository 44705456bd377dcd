"""Names of attributes that show more than a value: where it lies, what was in memory before, how often it was asked."""

from __future__ import annotations

import re
from functools import lru_cache

# Of a value: where it lies in memory, memory as it was left, a file, a frame, text, a class's own affairs.
_REVEALING = re.compile(
    r"_\w*|data|to_?file|(to_?|from_|rand)?bytes|tostring|byteswap|newbyteorder|decode|dumps?|obj|(gi|cr|ag|tb|f|co)_\w+|"
    r"seed|encode|format\w*|new|register|mro"
)
# The same where an instance of one's own has it from a library; hooks are counted, and what is compiled is kept.
_INHERITED = re.compile(
    r"__\w*|ctypes|\w*data_ptr|\w*storage\w*|\w*resize\w*|new_empty\w*|to_empty|materialize|set_|bit_generator|"
    r"share_memory_?|is_shared|module_load|getfield|setfield|\w*hooks?(_\w+)?|compile|_\w*_set|translate|maketrans|extra_repr"
)
_OF_TEXT = {
    "name",
    "str",
    "char",
    "kind",
    "type",
    "types",
    "descr",
    "byteorder",
    "hex",
    "signature",
    "key",
    "get_state",
}
_OF_ARRAYS = {"choose", "choice", "permutation", "permuted"}  # also of numpy's generators


@lru_cache(maxsize=1024)  # a class uses the same few
def reveals(name: str, is_own: bool) -> bool:
    return bool(_INHERITED.fullmatch(name)) or (not is_own and bool(_REVEALING.fullmatch(name)))


def makes_an_array(name: str) -> bool:
    """Whether it may be an array's way to make another, of whatever it is given."""
    return name in _OF_ARRAYS


def is_text(name: str) -> bool:
    """Whether it may be a text, of a dtype for instance."""
    return name in _OF_TEXT
