"""The classes of a student's file: what they are kinds of, and which of their attributes a library would look at.

A class that takes over what torch's own code calls is called where nobody sees it, with what nobody else is given: a
parameter before it has values, a set of modules. So a module has its own `forward`, and leaves the rest as it is.
"""

from __future__ import annotations

import ast

from .pure_attributes import reveals
from .pure_forms import word
from .pure_imports import Keeps

# Others begin with what their makers see to: a layer that fills its weights, a dictionary with keys to make sets of.
_INHERITED_FROM = {"torch.nn.Module", "torch.utils.data.Dataset", "torch.utils.data.dataset.Dataset"}
_NAMES = """
    T_destination _apply _buffers _call_impl _compiled_call_impl _get_backward_hooks _get_backward_pre_hooks _get_name
    _load_from_state_dict _maybe_warn_non_full_backward_hook _modules _named_members _parameters
    _register_load_state_dict_pre_hook _register_state_dict_hook _replicate_for_data_parallel _save_to_state_dict
    _slow_forward _version _wrapped_call_impl add_module apply bfloat16 buffers call_super_init children compile cpu
    cuda double dump_patches eval extra_repr float get_buffer get_extra_state get_parameter get_submodule half ipu
    load_state_dict modules mtia named_buffers named_children named_modules named_parameters parameters
    register_backward_hook register_buffer register_forward_hook register_forward_pre_hook
    register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook
    register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to to_empty
    train type xpu zero_grad
"""
OF_MODULES = frozenset(_NAMES.split())
_ANY = "an attribute that is not written out"


class Kinds:
    def __init__(self) -> None:
        self._above: dict[str, set[str]] = {}  # classes of the file, and those of the file that they are kinds of
        self._heirs: set[str] = set()  # of a library's class
        self._sets: dict[str, set[str]] = {}

    def inherits(self, kind: str, base: str) -> None:
        """From another class of the file."""
        if base != "object":
            self._above.setdefault(kind, set()).add(base)

    def inherits_from_library(self, kind: str, path: str) -> None:
        if path not in _INHERITED_FROM:
            raise Keeps(f"a kind of {path or 'what is no class of theirs'}")
        self._heirs.add(kind)

    def sets(self, kind: str, attribute: str) -> None:
        """A class defines an attribute, or its instances set it."""
        self._sets.setdefault(kind, set()).add(attribute)

    def look_at_setattr(self, kind: str, own: str, given: list[ast.expr]) -> None:
        """Raise unless it sets an attribute of a method's own instance."""
        match given:
            case [ast.Name(id=name), attribute, _] if name == own != "" and not reveals(word(attribute), is_own=True):
                self.sets(kind, word(attribute) or _ANY)
            case _:
                raise Keeps("setattr")

    def may_set(self, attribute: str) -> bool:
        return any(attribute in names or _ANY in names for names in self._sets.values())

    def look_at_what_is_taken_over(self) -> None:
        """Raise if a module, or a class that it is a kind of as well, has something in place of the library's."""
        heirs, before = set(self._heirs), set[str]()
        while heirs != before:
            before = set(heirs)
            for kind, above in self._above.items():
                heirs |= {kind, *above} if kind in heirs or above & heirs else set()
        for kind in sorted(heirs):
            for name in sorted(self._sets.get(kind, ())):
                if name in OF_MODULES or name == _ANY:
                    raise Keeps(f"{kind}.{name} in place of the library's")
