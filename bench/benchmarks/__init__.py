# SPDX-License-Identifier: Apache-2.0
"""Benchmarks for asv."""

import sys
from pathlib import Path

# asv puts only this folder's own package on the path; what the benchmarks share lies beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
