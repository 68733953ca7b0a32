#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tests over a build with AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of its own:
#
#     tests/sanitized.sh [PYTEST ARGUMENT...]
#
# tests/emulator/test_ptx.py builds with the sanitizers itself. A report ends the run.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q '.[test]' -Csetup-args=-Db_sanitize=address,undefined -Csetup-args=-Db_lundef=false
# The interpreter is not built with them. It keeps memory until it ends, so leaks can't be told.
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  "$work/venv/bin/pytest" -s -q --ignore=tests/emulator/test_ptx.py --ignore=tests/test_docs.py "$@"
