"""Names of libraries that keep nothing: what they give depends on what they are given, and on seeded chance at most.

`purity.py` reads students' code against these. A name that is missing costs time and nothing else, so doubtful ones are
left out: what sets something for later calls, reads or writes files, or shows memory that earlier calls have used.
"""

from __future__ import annotations

import re
from types import ModuleType

import numpy as np


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SETTINGS = """
    seterr geterr seterrcall geterrcall setbufsize getbufsize set_printoptions get_printoptions printoptions errstate
    set_string_function add_docstring info test
"""
_FILES = "load save savez savez_compressed savetxt loadtxt genfromtxt fromfile fromregex memmap DataSource"
# As it was left, or of things that never change.
_MEMORY = "empty empty_like ndarray recarray chararray from_dlpack frombuffer resize nditer nested_iters record void"
_TEXT = "array2string array_repr array_str base_repr binary_repr str_ bytes_ object_ dtype character flexible"
_MAKERS = "vectorize frompyfunc poly1d"  # of functions and instances
# Of dtypes that are not written out, and of texts; longdouble has bytes between its numbers that nobody sets.
_DTYPES = """
    promote_types result_type min_scalar_type common_type mintypecode typename einsum_path format_float_positional
    format_float_scientific fromstring copyto require astype longdouble clongdouble float128 complex256 ufunc
"""
_KEEPS = _words(
    f"{_SETTINGS} {_FILES} {_MEMORY} {_TEXT} {_MAKERS} {_DTYPES} show_config show_runtime get_include asmatrix bmat"
    " matrix pad __array_namespace_info__"
)
_CLOCK = re.compile("datetime\\w*|timedelta\\w*|busday\\w*|is_busday")
# Not getattr: numpy would load modules that most code never uses, and a module is not callable.
_CALLABLE = {name for name, value in vars(np).items() if callable(value)} & set(np.__all__)
_NUMPY = {name for name in _CALLABLE if not (name in _KEEPS or _CLOCK.fullmatch(name))}
_NUMPY |= {"pi", "e", "inf", "nan", "newaxis", "euler_gamma"}

NUMBER_TYPES = {f"numpy.{name}" for name in _NUMPY if isinstance(getattr(np, name), type)} - {
    *("numpy.broadcast", "numpy.flatiter", "numpy.ndenumerate", "numpy.ndindex", "numpy.finfo", "numpy.iinfo")
}
CONSTANTS = {f"numpy.{name}" for name in _NUMPY if not callable(getattr(np, name))}
# What takes numbers and gives numbers: no array of text or of functions comes out of these.
NUMBERS = re.compile(
    "numpy\\.linalg\\.(?!diagonal|matrix_(transpose|power))\\w+|numpy\\.fft\\.(i?[rh]?fft|r?fftfreq)|numpy\\.random\\.(rand\\w*|seed|uniform|\\w*normal|binomial|geometric|poisson|beta)"
    "|numpy\\.(zeros|ones|eye|arange|linspace|finfo|iinfo|sum|mean|prod|std|var|cumsum|clip|isclose|allclose)"
)
_UFUNCS = {f"numpy.{name}" for name in _NUMPY if isinstance(getattr(np, name), np.ufunc)}
NUMBERS_TOO = (NUMBER_TYPES | CONSTANTS | _UFUNCS) - {"numpy.add"}  # which adds texts too

_CHANCE = (  # of the generators that are seeded anew when a check begins
    *("rand", "randn", "random", "random_sample", "uniform", "normal", "standard_normal", "randint", "choice"),
    *("permutation", "shuffle", "binomial", "geometric", "poisson", "exponential", "beta", "triangular"),
)


def _functions(module: ModuleType) -> frozenset[str]:
    """No module of a module: by that everything could be reached."""
    return frozenset(name for name in module.__all__ if callable(getattr(module, name)))


_FUNCTIONAL = _words(
    """
    softmax log_softmax relu gelu silu elu leaky_relu sigmoid tanh softplus linear dropout layer_norm group_norm
    normalize cross_entropy nll_loss mse_loss pad one_hot embedding conv1d conv2d unfold fold cosine_similarity
    scaled_dot_product_attention adaptive_avg_pool1d avg_pool1d avg_pool2d max_pool1d max_pool2d
    """
)
_INITIALISERS = _words(
    """
    xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ normal_ uniform_ zeros_ ones_ constant_
    trunc_normal_ orthogonal_ eye_
    """
)
_TORCH_NAMES = _words(
    """
    abs add addmm all allclose amax amin any arange argmax argmin argsort as_tensor atleast_1d atleast_2d baddbmm
    bernoulli block_diag bmm broadcast_to cat cdist ceil chunk clamp clip clone complex concat concatenate conj cos
    cosh cross cumprod cumsum deg2rad diag diag_embed diagonal diff div dot einsum eq equal erf exp expm1 eye
    flatten flip floor floor_divide fmod from_numpy full full_like gather ge gt hstack imag index_select inner
    isclose isfinite isinf isnan is_tensor kron le linspace log log10 log1p log2 logical_and logical_not logical_or
    logsumexp logspace lt masked_fill masked_select matmul max maximum mean median meshgrid min minimum mm movedim
    mul multinomial mv nan_to_num narrow ne neg nonzero norm normal ones ones_like outer permute polar pow prod rand
    rand_like randint randn randn_like randperm real reciprocal relu remainder repeat_interleave reshape roll rot90
    round rsqrt scatter select sigmoid sign sin sinh softmax sort split sqrt square squeeze stack std sub sum
    swapaxes t take tan tanh tensor tensordot tile topk trace transpose tril tril_indices triu triu_indices unbind
    unique unsqueeze var var_mean view_as_complex view_as_real vstack where zeros zeros_like no_grad inference_mode
    enable_grad device dtype Size finfo float float16 float32 float64 half double bfloat16 int int8 int16 int32
    int64 uint8 long short bool cfloat complex64 complex128 inf pi nan e
    """
)

ALLOWED: dict[str, frozenset[str] | re.Pattern[str]] = {
    "numpy": frozenset(_NUMPY),
    "numpy.linalg": _functions(np.linalg),
    "numpy.fft": _functions(np.fft),
    "numpy.random": frozenset(_CHANCE),
    "torch": _TORCH_NAMES,
    "torch.nn": re.compile("(?!Uninit|Buffer|Lazy)[A-Z]\\w*"),
    "torch.nn.functional": _FUNCTIONAL,
    "torch.nn.init": _INITIALISERS,
    "torch.cuda": _words("is_available"),
    "torch.backends": frozenset(),
    "torch.backends.mps": _words("is_available"),
    "torch.utils": frozenset(),
    "torch.utils.data": _words("Dataset TensorDataset"),
    "torch.utils.data.dataset": _words("Dataset"),
    "math": re.compile("[a-z]\\w*"),
    "random": frozenset((*_CHANCE, "randrange", "choices", "sample", "gauss", "normalvariate", "betavariate")),
    "itertools": re.compile("[a-z]\\w*"),
    "functools": _words("reduce"),
    "collections": _words("Counter OrderedDict defaultdict deque"),
    "copy": _words("copy deepcopy"),
    "einops": _words("rearrange reduce repeat einsum"),
    "einops.layers": frozenset(),
    "einops.layers.torch": _words("Rearrange Reduce"),
    "logging": frozenset(),
}
# They may be imported, as many files do; whoever uses them may keep something.
UNUSED = _words("argparse collections dataclasses datetime json os pickle re string sys time tqdm typing warnings")

SEEDED = {  # by a number, they are the same in every process
    *("numpy.random.seed", "numpy.random.default_rng", "numpy.random.RandomState"),
    *("random.seed", "random.Random", "torch.manual_seed"),
}
# What may stand in annotations, and nowhere else: called, it shows memory as it was left, or keeps what it was given.
TYPES = re.compile(
    r"(typing|collections\.abc|numpy\.typing)\.[A-Z]\w*|numpy\.ndarray|torch\.\w*Tensor|torch\.nn\.[A-Z]\w*"
)
CONTEXTS = {"numpy.errstate", "torch.no_grad", "torch.inference_mode", "torch.enable_grad"}  # in `with`, where they end
GIVES_NUMBERS = {  # and what else never changes
    *("torch.device", "torch.cuda.is_available", "torch.backends.mps.is_available", "torch.finfo", "numpy.finfo"),
    *("numpy.sqrt", "numpy.log", "numpy.exp", "numpy.float32", "numpy.float64", "numpy.iinfo"),
}
BUILTINS = _words(
    """
    abs all any bool callable complex dict divmod enumerate filter float hasattr int isinstance issubclass iter len list
    map max min next object ord pow range reversed round slice sorted sum tuple zip NotImplemented __name__
    Exception ValueError TypeError IndexError KeyError RuntimeError NotImplementedError AssertionError
    """
)
