"""The patch embedding of 2.4: one linear map for every patch, patches row by row.

Such a map is its answers to single pixels and to a black image, so those are taken and looked at: which pixels a token
depends on, whether every patch is treated alike, and whether that is all there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import permutations, product

import numpy as np

from grader import ATOL, RTOL, Array, Outcome, Status, Student, StudentFile, check, failed, passed, shape
from grader.modules import Workbench, irregular, judged_by_behaviour, wrong_shape

from .image_bench import PatchSizes, is_batch_normed, on_images

NAME = "PatchEmbedding"
_EVERY_NUMBER = "every number of that map is learned"
_EPSILON = 1e-5  # torch's
_STEP = 1e-4  # so small that the map moves in proportion, and large enough for float32
_RANK_TOLERANCE = 1e-3  # either adds less than this

# Sizes that differ from each other; then one channel, patches of one pixel, and a single patch.
SIZES = (PatchSizes(6, 2, 3, 7), PatchSizes(8, 2, 1, 5), PatchSizes(3, 1, 2, 4), PatchSizes(4, 4, 3, 10))


def patch_bench(student: Student, rng: np.random.Generator, file: str, name: str, sizes: PatchSizes) -> Workbench:
    return on_images(student, rng, file, name, sizes)


@check(group="values")
def makes_one_token_of_each_patch(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """(B, channels, image, image) → (B, N, dim) for any batch, each image by itself, float32 too, input untouched."""
    for sizes in SIZES:
        bench = patch_bench(student, rng, file, name, sizes)
        cases = [((sizes.images(rng, batch),), (batch, sizes.patches, sizes.dim)) for batch in (2, 1, 3)]
        images = sizes.images(rng, 3)
        if found := wrong_shape(bench, cases):
            (x,), wrong = found
            return _with_hint(wrong, bench, x, sizes)
        if irregularity := irregular(bench, (images,)):
            return irregularity
    return passed(f"one token for each patch, for {len(SIZES)} sizes of images and patches")


def _with_hint(wrong: Outcome, bench: Workbench, x: Array, sizes: PatchSizes) -> Outcome:
    got, batch = bench.run((x,)).outputs[0].shape, len(x)
    transposed = "it looks transposed, with the features before the tokens", "features_before_tokens"
    grid = "the grid of patches is not flattened into one axis of tokens", "grid_not_flattened"
    class_token = "there is one token too many; the class token belongs to the ViT", "class_token_added"
    hints = {
        (batch, sizes.dim, sizes.patches): transposed,
        (batch, sizes.dim, sizes.side, sizes.side): grid,
        (batch, sizes.side, sizes.side, sizes.dim): grid,
        (batch, sizes.patches + 1, sizes.dim): class_token,
        (sizes.patches, batch, sizes.dim): ("tokens come before the batch", "tokens_before_batch"),
    }
    hint, code = hints.get(got, ("", wrong.code))
    if not hint and got[::2] == (batch, sizes.dim) and len(got) == 3:
        hint, code = why_so_many(got[1], sizes)
    return failed(f"{wrong.message}{'; ' if hint else ''}{hint}", wrong.detail, code=code)


def why_so_many(tokens: int, sizes: PatchSizes) -> tuple[str, str]:
    """What makes so many tokens of one image, in words, with its code; no words if that is not known."""
    strides = {((sizes.image - sizes.patch) // stride + 1) ** 2 for stride in range(1, sizes.patch)}
    if tokens in strides:
        return "patches overlap: the stride has to be the patch size", "patches_overlap"
    if tokens == sizes.channels * sizes.patches:
        return "each channel of a patch is a token of its own; a token is made of all channels", "channels_are_tokens"
    if tokens == sizes.channels:
        return "channels are taken for tokens", "channels_are_tokens"
    if tokens == sizes.image**2:
        return "each pixel is a token", "pixels_are_tokens"
    if tokens in (sizes.image, sizes.side):
        return "each row is a token", "rows_are_tokens"
    return "one token for all of it" if tokens == 1 else "", "wrong_token_count"


@check(group="values", compares=True)
def maps_every_patch_alike_row_by_row(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """Token n is one learned linear map of the pixels of patch n, the same for every patch, patches row by row."""
    outcome = passed("")
    for sizes in SIZES:
        outcome = _judged(patch_bench(student, rng, file, name, sizes), rng, sizes)
        if outcome.score < 1 or outcome.status is Status.REVIEW:
            return outcome
    return outcome


def _judged(bench: Workbench, rng: np.random.Generator, sizes: PatchSizes) -> Outcome:
    x = sizes.images(rng, 2)
    # One picture at a time: a map that mixes the batch is another check's concern.
    (black, *parts), drawn = [
        bench.run(*((image[None],) for image in images)).outputs for images in ([0 * x[0], *_impulses(sizes)], x)
    ]
    found = _map_of(bench, sizes, x, black, parts, drawn)
    return found if isinstance(found, Outcome) else _learned(bench, rng, sizes, *found)


def _impulses(sizes: PatchSizes) -> Array:
    """Images with one white pixel each, all there are."""
    pixels = sizes.channels * sizes.image**2
    return np.eye(pixels).reshape(sizes.shape(pixels))


def _map_of(
    bench: Workbench, sizes: PatchSizes, x: Array, black: Array, parts: list[Array], drawn: list[Array]
) -> Outcome | tuple[Array, Array]:
    """The matrix and the offset with which it maps a patch, or what is wrong with that."""
    want = (1, sizes.patches, sizes.dim)
    if any(output.shape != want for output in (black, *parts, *drawn)):
        message = f"{bench.name}({sizes}) should give {shape(want)} for one image"
        return failed(message, code="wrong_output_shape")
    offset = black[0]  # (N, dim)
    answers = np.stack([part[0] - offset for part in parts])  # (pixels, N, dim)
    outputs = np.concatenate(drawn)
    if not _close(outputs, offset + np.tensordot(x.reshape(len(x), -1), answers, 1)):
        return _not_linear(bench, x, outputs, sizes)
    if is_batch_normed(bench):
        return failed(
            f"BatchNorm stands in {bench.name} where only a linear map is asked for: in training a token depends on "
            "the other patches and images",
            code="batch_norm",
        )
    if wrong := _wrong_pixels(bench, answers, sizes):
        return wrong
    if not _close(offset, offset[:1].repeat(sizes.patches, axis=0)):
        return failed(
            f"{bench.name} adds something else to each token: positions belong to the ViT, not to the patches",
            code="positions_in_patches",
        )
    return _of_each_patch(answers, sizes)[0], offset[0]


def _not_linear(bench: Workbench, x: Array, outputs: Array, sizes: PatchSizes) -> Outcome:
    said = f"{bench.name} is not linear in the pixels: "
    for where, normed in _with_layer_norms(bench.values, sizes, x):
        if _close(outputs, normed):
            shown = {
                f"a LayerNorm stands {where} the linear map": True,
                "but for that, a token is one learned linear map of the pixels of its own patch": True,
                "all patches are mapped alike, row by row": True,
            }
            left = "whether a LayerNorm may stand there, where a linear map is asked for"
            return judged_by_behaviour(shown, left, code="extra_norm")
    message = f"{said}an activation or a LayerNorm stands where only a linear map is asked for"
    return failed(message, code="not_linear")


def _with_layer_norms(values: Mapping[str, Array], sizes: PatchSizes, x: Array) -> Iterator[tuple[str, Array]]:
    """Tokens by linear maps with a LayerNorm before them, behind them, or both, and where that stands."""
    s, p = sizes.side, sizes.patch
    grid = x.reshape(len(x), sizes.channels, s, p, s, p)  # (B, C, row, P, column, P)
    flat = [grid.transpose(0, 2, 4, *order).reshape(len(x), s * s, -1) for order in permutations((1, 3, 5))]
    before = [("", np.asarray), *(("before", norm) for norm in _layer_norms(values, sizes.pixels))]
    behind = [("", np.asarray), *(("behind", norm) for norm in _layer_norms(values, sizes.dim))]
    vectors = {name: value.reshape(-1) for name, value in values.items() if value.size == sizes.dim}
    loose = [np.zeros(1), *(vector for name, vector in vectors.items() if not _is_weight(name))]
    for name, weight in values.items():
        if weight.size != sizes.pixels * sizes.dim or sizes.dim not in weight.shape:
            continue
        matrix = np.moveaxis(weight, weight.shape.index(sizes.dim), 0).reshape(sizes.dim, -1).T
        biases = [_bias_beside(name, values)] if _is_weight(name) else loose
        for (one, first), (other, last), bias, pixels in product(before, behind, biases, flat):
            yield " and ".join(filter(None, (one, other))), last(first(pixels) @ matrix + bias)


def _layer_norms(values: Mapping[str, Array], size: int) -> Iterator[Callable[[Array], Array]]:
    """Those of torch's that have this size."""
    for name, gain in values.items():
        if gain.size == size and _is_weight(name):
            yield partial(_layer_norm, gain=gain.reshape(-1), shift=_bias_beside(name, values))


def _layer_norm(x: Array, gain: Array, shift: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt(x.var(axis=-1, keepdims=True) + _EPSILON) * gain + shift)


def _is_weight(name: str) -> bool:
    return "weight" in name.rpartition(".")[2]


def _bias_beside(weight: str, values: Mapping[str, Array]) -> Array:
    """That of the same layer, as torch names it; zero if there is none."""
    layer, dot, leaf = weight.rpartition(".")
    return values.get(layer + dot + leaf.replace("weight", "bias"), np.zeros(1)).reshape(-1)


def _close(got: Array, want: Array) -> bool:
    return np.allclose(got, want, rtol=RTOL, atol=ATOL)


def _owners(sizes: PatchSizes, columns_first: bool = False) -> Array:
    """Which patch each pixel belongs to: (C·S·S,)."""
    place = np.arange(sizes.image) // sizes.patch
    grid = place[:, None] * sizes.side + place[None, :]
    return np.broadcast_to(grid.T if columns_first else grid, (sizes.channels, sizes.image, sizes.image)).reshape(-1)


def _of_each_patch(answers: Array, sizes: PatchSizes) -> Array:
    """(N, pixels of a patch, dim): what each token makes of its own patch, pixels in one order."""
    owners = _owners(sizes)
    return np.stack([answers[owners == n, n] for n in range(sizes.patches)])


def _seen(answers: Array) -> Array:
    """Which token depends on which pixel: (pixels, N)."""
    return np.asarray(np.abs(answers).max(axis=-1) > ATOL)


def _wrong_pixels(bench: Workbench, answers: Array, sizes: PatchSizes) -> Outcome | None:
    sees = _seen(answers)
    own = _owners(sizes)[:, None] == np.arange(sizes.patches)
    if (sees & ~own).any():
        features_first = answers.reshape(len(answers), sizes.dim, sizes.patches).swapaxes(1, 2)
        if (_seen(features_first) == own).all():
            return failed(
                f"{bench.name} makes tokens of (batch, dim, N) by reshape() alone, which mixes features and tokens; "
                "write flatten(2).transpose(1, 2)",
                code="features_mixed_with_tokens",
            )
        if not (sees & (_owners(sizes, columns_first=True)[:, None] != np.arange(sizes.patches))).any():
            message = f"{bench.name} takes the patches column by column; row by row is asked for"
            return failed(message, code="patches_by_column")
        if (sees.sum(axis=0) <= own.sum(axis=0)).all():
            return failed(
                f"a token of {bench.name} is made of pixels of several patches: reshape() alone cuts an image into "
                "lines, so split height and width first and bring both patch axes together with permute()",
                code="patches_cut_by_reshape",
            )
        message = f"a token of {bench.name} depends on pixels outside its patch; patches do not overlap"
        return failed(message, code="pixels_outside_patch")
    if not (sees == own).all():
        message = f"some pixels of a patch have no influence on its token in {bench.name}"
        return failed(message, code="pixels_ignored")
    each = _of_each_patch(answers, sizes)
    if not _close(each, each[:1].repeat(sizes.patches, axis=0)):
        message = f"{bench.name} treats patches differently; one map serves them all, as a convolution does"
        return failed(message, code="patches_unlike")
    return None


def _learned(bench: Workbench, rng: np.random.Generator, sizes: PatchSizes, matrix: Array, offset: Array) -> Outcome:
    """Whether the map's numbers are the module's parameters, in whatever order it flattens a patch."""
    if not bench.values:
        return failed(
            f"the map of {bench.name} is not learned: a tensor that is no nn.Parameter is neither trained nor saved",
            code="not_a_parameter",
        )
    if _channels_are_alike(sizes, matrix):
        message = f"all channels have the same weights in {bench.name}; a patch is mapped with all its numbers"
        return failed(message, code="channels_share_weights")
    if _is_made_of(bench.values, matrix, offset):
        return passed(f"one linear map for all patches, for {len(SIZES)} sizes", evidence={"judged_by": "values"})
    free = _learned_directions(bench, rng, sizes)
    if not free:
        message = f"the map of {bench.name} is not learned: no parameter has any influence on it"
        return failed(message, code="not_learned")
    shown = {
        "a token is linear in the pixels of its own patch, and in no others": True,
        "all patches are mapped alike, row by row": True,
        _EVERY_NUMBER: free == matrix.size,
    }
    return judged_by_behaviour(shown, "how its parameters make that map", essential=_EVERY_NUMBER)


def _channels_are_alike(sizes: PatchSizes, matrix: Array) -> bool:
    channels = matrix.reshape(sizes.channels, sizes.patch**2, sizes.dim)
    return sizes.channels > 1 and _close(channels, channels[:1].repeat(sizes.channels, axis=0))


def _is_made_of(values: Mapping[str, Array], matrix: Array, offset: Array) -> bool:
    """Whether these numbers are those of some tensors, in whatever order."""
    numbers = np.sort(matrix.reshape(-1))
    weights = [value for value in values.values() if value.size == numbers.size]
    biases = [np.zeros_like(offset), *(value.reshape(-1) for value in values.values() if value.size == offset.size)]
    return any(_close(np.sort(value.reshape(-1)), numbers) for value in weights) and any(
        _close(offset, value) for value in biases
    )


def _learned_directions(bench: Workbench, rng: np.random.Generator, sizes: PatchSizes) -> int:
    """How many of the map's numbers small changes to the parameters can move, each for itself."""
    own = np.flatnonzero(_owners(sizes) == 0)
    pixels = np.zeros((len(own) + 1, sizes.channels * sizes.image**2))
    pixels[np.arange(len(own)), own] = 1  # and a black image
    x = pixels.reshape(-1, sizes.channels, sizes.image, sizes.image)
    steps = [
        {name: value + _STEP * rng.normal(size=value.shape) for name, value in bench.values.items()}
        for _ in range(2 * len(own) * sizes.dim)
    ]
    maps = np.stack([output[:-1, 0] - output[-1:, 0] for (output,) in bench.run_changed((x,), changes=[{}, *steps])])
    moved = (maps[1:] - maps[0]).reshape(len(steps), -1) / _STEP
    sizes_of_moves = np.linalg.svd(moved, compute_uv=False)
    return int(np.sum(sizes_of_moves > _RANK_TOLERANCE * max(1.0, sizes_of_moves[0])))
