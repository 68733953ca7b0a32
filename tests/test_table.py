# SPDX-License-Identifier: Apache-2.0
"""The C hash table of addresses: against a dict, with chosen collisions, churn, exhausted memory and a million keys."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.build_extension import build_extension
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

MULTIPLIER = 0x9E3779B97F4A7C15
MILLION = 1_000_000
SLOT_BYTES = 16


@pytest.fixture(scope="session")
def table_probe(tmp_path_factory):
    return build_extension(Path(__file__).parent / "cython" / "table_probe.pyx", tmp_path_factory.mktemp("table_probe"))


@pytest.fixture
def table(table_probe):
    return table_probe.AddressTable()


def key_that_mixes_to(mixed):
    """Undo the mixing function: the one key whose home is the top bits of `mixed`."""
    inverse = pow(MULTIPLIER, -1, 1 << 64)
    folded = mixed * inverse % (1 << 64)
    return (folded ^ folded >> 32) * inverse % (1 << 64)


def colliding_keys(top_bits, count, seed=0):
    """Keys that share their home slot in every table of up to 2**24 slots."""
    numbers = random.Random(seed)
    return [key_that_mixes_to(top_bits << 40 | numbers.getrandbits(40)) for _ in range(count)]


# Three piles of collisions, the last of which wraps around the end, and ordinary addresses between them.
KEYS = [
    *colliding_keys(0, 16, seed=1),
    *colliding_keys(0x800000, 16, seed=2),
    *colliding_keys(0xFFFFFF, 16, seed=3),
    *(0x7F0000000000 + 48 * i for i in range(32)),
]


def assert_sound(table, expected):
    assert len(table) == len(expected)
    assert dict(table.items()) == expected
    keys = table.keys_of_slots()
    assert sorted(key for key in keys if key > 1) == sorted(expected)
    assert keys.count(1) == table.tombstones
    # An empty slot is what ends a probe: with three eighths of them no look-up can run on for ever.
    assert keys.count(0) * 8 >= len(keys) * 3
    assert table.nbytes == len(keys) * SLOT_BYTES
    assert len(keys) == 0 or len(keys) & (len(keys) - 1) == 0


def machine_over(AddressTable):
    keys = st.sampled_from(KEYS)
    values = st.integers(0, 2**64 - 1)

    class TableAgainstDict(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.table = AddressTable()
            self.expected = {}

        @rule(key=keys, value=values)
        def put(self, key, value):
            assert self.table.put(key, value) == 0
            self.expected[key] = value

        @rule(key=keys)
        def remove(self, key):
            assert self.table.remove(key) == self.expected.pop(key, None)

        @rule(key=keys)
        def get(self, key):
            assert self.table.get(key) == self.expected.get(key)

        @rule(key=st.sampled_from([0, 1]))
        def use_reserved_key(self, key):
            assert self.table.put(key, 7) == -1
            assert self.table.get(key) is None
            assert self.table.remove(key) is None

        @rule(more=st.integers(0, 40))
        def reserve_then_put_without_growth(self, more):
            assert self.table.reserve(more) == 0
            slots = self.table.slots
            for key in [key for key in KEYS if key not in self.expected][:more]:
                assert self.table.put(key, 1) == 0
                self.expected[key] = 1
            assert self.table.slots == slots

        @rule(survivor=st.integers(0, 1))
        def remove_every_second_while_iterating(self, survivor):
            for number, (key, value) in enumerate(self.table.items()):
                if number % 2 != survivor:
                    assert self.table.remove(key) == value == self.expected.pop(key)

        @precondition(lambda self: len(self.expected) > 20)
        @rule()
        def free(self):
            self.table.free()
            self.expected.clear()

        @invariant()
        def agrees(self):
            assert_sound(self.table, self.expected)
            for key in KEYS:
                assert self.table.get(key) == self.expected.get(key)

    return TableAgainstDict


def test_any_sequence_agrees_with_dict(table_probe):
    run_state_machine_as_test(
        machine_over(table_probe.AddressTable),
        settings=settings(max_examples=200, stateful_step_count=60, deadline=None,
                          suppress_health_check=[HealthCheck.too_slow]))


def test_chosen_keys_do_share_their_home(table):
    table.reserve(100_000)
    for top_bits in (0, 0x800000, 0xFFFFFF):
        assert {table.home(key) for key in colliding_keys(top_bits, 50)} == {top_bits * table.slots >> 24}


def test_empty_table_finds_removes_and_iterates_nothing(table):
    assert table.get(0x1000) is None
    assert table.remove(0x1000) is None
    assert list(table.items()) == []
    assert (len(table), table.nbytes) == (0, 0)


def test_null_is_a_value_like_others(table):
    table.put(0x1000, 0)
    assert table.get(0x1000) == 0
    assert table.remove(0x1000) == 0
    assert table.get(0x1000) is None


@pytest.mark.parametrize("key", [0, 1])
def test_reserved_keys_are_refused_and_never_found(table, table_probe, key):
    assert key in table_probe.RESERVED
    table.put_range(0x1000, 5, 16)
    table.remove(0x1010)
    table.remove(0x1030)
    assert table.put(key, 5) == -1
    assert table.get(key) is None
    assert table.remove(key) is None
    assert len(table) == 3


def test_put_of_known_key_replaces_without_growth(table):
    table.put_range(0x1000, 5, 16)
    for value in range(100):
        assert table.put(0x1020, value) == 0
    assert (len(table), table.slots, table.get(0x1020)) == (5, 8, 99)


def test_removing_absent_keys_changes_nothing(table):
    table.put_range(0x1000, 4, 16)
    table.remove(0x1010)
    before = table.keys_of_slots(), table.tombstones
    assert table.remove_range(2, 0x1000 - 2, 1) == 0
    assert (table.keys_of_slots(), table.tombstones) == before


def test_removing_absent_keys_from_emptied_table_ends(table):
    table.put(0x1000, 1)
    table.remove(0x1000)
    assert table.remove_range(2, 1000, 1) == 0
    assert_sound(table, {})


@pytest.mark.parametrize("live", [1, 3, 100, 1000])
def test_churn_keeps_size_flat(table, live):
    table.put_range(0x10000, live, 16)
    sizes = set()
    for i in range(20_000):
        assert table.remove(0x10000 + 16 * i) is not None
        assert table.put(0x10000 + 16 * (i + live), 1) == 0
        if i > 4 * live:
            sizes.add(table.slots)
    assert len(table) == live
    assert len(sizes) == 1
    assert table.slots <= 8 * max(live, 1)


def test_churn_of_colliding_keys_keeps_size_flat(table):
    keys = colliding_keys(0xFFFFFF, 4000)
    for number, key in enumerate(keys):
        assert table.put(key, number) == 0
        if number >= 20:
            assert table.remove(keys[number - 20]) == number - 20
    assert_sound(table, {key: len(keys) - 20 + i for i, key in enumerate(keys[-20:])})
    assert table.slots <= 128


@pytest.mark.parametrize("order", [range(16), range(15, -1, -1)])
def test_pile_removed_from_either_end_leaves_no_tombstone(table, order):
    keys = colliding_keys(0xFFFFFF, 16)
    for key in keys:
        table.put(key, 1)
    for i in order:
        table.remove(keys[i])
    assert table.tombstones == 0
    assert_sound(table, {})


def test_compaction_of_full_piles_keeps_every_key(table):
    keys = colliding_keys(0xFFFFFF, 200) + colliding_keys(0, 200, seed=9)
    random.Random(4).shuffle(keys)
    for number, key in enumerate(keys):
        table.put(key, number)
    slots = table.slots
    expected = {key: number for number, key in enumerate(keys)}
    for key in keys[::2] + keys[1::4]:
        assert table.remove(key) == expected.pop(key)
    assert table.tombstones >= len(table)
    room = slots // 2 + slots // 8 - len(table)
    assert table.reserve(room) == 0
    assert (table.tombstones, table.slots) == (0, slots)
    assert_sound(table, expected)


@pytest.mark.parametrize("more", [2**64 - 1, 2**63, 2**60 - 1, 2**60, 2**59, 2**44])
@pytest.mark.parametrize("live", [0, 1, 1000])
def test_reserve_beyond_memory_or_size_leaves_table_as_it_was(table, live, more):
    table.put_range(0x1000, live, 16)
    before = table.keys_of_slots(), table.tombstones, table.nbytes
    assert table.reserve(more) == -1
    assert (table.keys_of_slots(), table.tombstones, table.nbytes) == before
    assert table.put_range(0x1000, live + 10, 16) == 0


# The limit stands in a child: it must not outlive a failure of this test.
EXHAUST_MEMORY = """
import importlib.machinery, importlib.util, resource, sys
spec = importlib.util.spec_from_file_location("table_probe", sys.argv[1])
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
table = probe.AddressTable()
slots = 1 << 21
full = slots // 2 + slots // 8
assert table.put_range(0x1000, full, 16) == 0 and table.slots == slots
with open("/proc/self/statm") as statm:
    now = int(statm.read().split()[0]) * resource.getpagesize()
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (now + (16 << 20), hard))
assert table.put(0x10, 5) == -1
assert (len(table), table.slots, table.tombstones) == (full, slots, 0)
assert table.get(0x10) is None
assert table.put(0x1000, 0x1000) == 0
assert table.count_range(0x1000, full, 16) == full
resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
assert table.put(0x10, 5) == 0 and table.get(0x10) == 5
assert table.count_range(0x1000, full, 16) == full
"""


def test_failed_put_leaves_table_as_it_was(table_probe):
    done = subprocess.run([sys.executable, "-c", EXHAUST_MEMORY, table_probe.__file__], capture_output=True, text=True,
                          cwd=os.path.dirname(table_probe.__file__))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("stride", [16, 48, 4096, 46368, 1 << 21, 1 << 40])
def test_million_keys_of_any_stride(table, stride):
    assert table.put_range(stride + 2, MILLION, stride) == 0
    assert len(table) == MILLION
    assert table.slots == 1 << 21
    assert table.count_range(stride + 2, MILLION, stride) == MILLION
    assert table.count_range(stride + 3, MILLION, stride) == 0
    assert table.remove_range(stride + 2, MILLION, stride) == MILLION
    assert len(table) == 0
    assert table.put_range(stride + 3, MILLION, stride) == 0
    assert table.slots == 1 << 21
