"""Model sheets: what published models hold, counted from their shapes alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dlmini.plan import SHEETS, Layout, Sheet, device_of, sheet_of
from dlmini.plan.sheets import bloom

SHAPES = some.builds(
    lambda heads, width, layers, words, tokens, positions, norm: Sheet(
        "any", heads * width, layers, heads, words, tokens, positions, norm
    ),
    *(some.integers(1, 9) for _ in range(3)),
    some.integers(1, 99),
    some.integers(1, 64),
    some.booleans(),
    some.booleans(),
)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("bloom-560m", 559_214_592), ("bloom-176b", 176_247_271_424), ("bloom-7b1", 7_069_016_064), ("gpt2", 124_439_808)],
)
def test_published_models_have_their_published_number_of_parameters(name, parameters):
    assert sheet_of(name).parameters == parameters


def test_bloom_560m_by_its_parts():
    sheet = SHEETS["bloom-560m"]
    assert sheet.layer_parameters == 12_596_224
    assert sheet.tensors()[0].size == 256_901_120
    assert len(sheet.tensors()) == 293


@given(SHAPES)
def test_tensors_add_up_to_all_parameters(sheet):
    assert sum(tensor.size for tensor in sheet.tensors()) == sheet.parameters
    assert sum(t.size for t in sheet.tensors() if t.layer == 0) == sheet.layer_parameters


@given(SHAPES, some.data())
def test_stages_of_one_rank_each_add_up_to_the_model_but_for_the_second_embedding(sheet, data):
    layout = Layout(pipe=data.draw(some.integers(1, sheet.layers)))
    layers, last = layout.layers(sheet), layout.pipe - 1
    assert sum(layers) == sheet.layers
    assert max(layers) - min(layers) <= 1
    held = sum(sheet.stage_parameters(n, 1, i == 0, i == last) for i, n in enumerate(layers))
    assert held == sheet.parameters + (sheet.vocabulary * sheet.hidden if last else 0)


def test_a_layer_shared_by_eight_is_cut_but_for_norms_and_outer_biases():
    sheet = SHEETS["gpt-175b"]
    h = sheet.hidden
    assert 8 * (sheet.layer_share(8) - 6 * h) == 12 * h * h + 7 * h
    assert sheet.layer_share(1) == sheet.layer_parameters


def test_operations_of_a_step_follow_the_published_formula():
    """72 B L s h^2 (1 + s/6h + V/12hL), and with full recomputation 96 (1 + s/6h + V/16Lh): Narayanan et al., 2021."""
    sheet, batch = SHEETS["gpt-175b"], 64
    L, s, h, V = sheet.layers, sheet.sequence, sheet.hidden, sheet.vocabulary
    assert sheet.flops(batch) == pytest.approx(72 * batch * L * s * h * h * (1 + s / (6 * h) + V / (12 * h * L)))
    full = 96 * batch * L * s * h * h * (1 + s / (6 * h) + V / (16 * h * L))
    assert sheet.flops(batch, "full") == pytest.approx(full)
    selective = 72 * batch * L * s * h * h * (1 + s / (6 * h) + s / (18 * h) + V / (12 * h * L))
    assert sheet.flops(batch, "selective") == pytest.approx(selective)


def test_a_name_that_is_none_is_told_the_names_there_are():
    with pytest.raises(ValueError, match="model is 'bert'; it must be one of bloom-560m"):
        sheet_of("bert")
    with pytest.raises(ValueError, match="device is 'abacus'; it must be one of a100-80gb"):
        device_of("abacus")


def test_heads_must_share_the_width():
    with pytest.raises(ValueError, match="hidden is 10, but heads is 3"):
        bloom("odd", 10, 2, 3)
