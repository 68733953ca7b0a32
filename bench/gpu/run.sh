#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Everything that needs a GPU, in one command for a machine that has one and no network:
#
#     bench/gpu/run.sh FOLDER [WHEEL...]
#
# Installs the wheels into a folder of their own, then runs info, the demo, the tests on the GPU, the benchmarks and the
# soak. What each prints goes to a file in FOLDER; what is about the machine, to one together. A step that fails does not
# stop the later ones; the exit status says if one did.
set -u -o pipefail

if [ $# -lt 1 ]; then
  echo "usage: $0 FOLDER [WHEEL...]" >&2
  exit 2
fi
mkdir -p "$1" || exit
folder=$(realpath "$1")
shift
checkout=$(realpath "$(dirname "$0")/../..")
rm -f "$folder/machine.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=""

step() {
  local name=$1
  shift
  echo "==== $name"
  timeout --kill-after=10 240 "$@" 2>&1 | tee "$folder/$name.txt"
  check "$name" $?
}

machine_step() {
  local name=$1
  shift
  echo "==== $name" | tee -a "$folder/machine.txt"
  timeout --kill-after=10 240 "$@" 2>&1 | tee -a "$folder/machine.txt"
  check "$name" $?
}

check() {
  local name=$1 status=$2
  if [ $status -ne 0 ]; then
    echo "==== $name FAILED with exit status $status"
    failed="$failed $name"
  fi
}

machine() {
  date --utc --iso-8601=seconds
  nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv
  uname -srm
  python3 --version
  python3 -m pip list 2>/dev/null | grep -iE '^(se[-_]cy|cuda-(bindings|core|pathfinder)|numpy|cupy|torch|triton) ?'
  cc --version | head -n 1
}
export -f machine

if [ $# -gt 0 ]; then
  machine_step install python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade \
    --target "$work/lib/site" "$@"
  export PYTHONPATH="$work/lib/site"
  # pip records scripts as ../../bin of that folder, and puts them into it.
  ln -s lib/site/bin "$work/bin"
fi

# Away from the checkout, whose folder se_cy has sources that are not compiled.
mkdir "$work/here"
cp -r "$checkout/tests" "$checkout/pyproject.toml" "$work/here/"
cd "$work/here" || exit

machine_step machine bash -c machine
machine_step info python3 -m se_cy info
machine_step demo python3 -m se_cy demo
# Those left out ask about the checkout, not about a driver.
step tests python3 -m pytest --driver=cuda --ignore=tests/test_docs.py --ignore=tests/test_floors.py tests
step launch python3 "$checkout/bench/gpu/launch.py" "$folder"
step lookup python3 "$checkout/bench/gpu/lookup.py" "$folder"
step soak python3 "$checkout/bench/soak.py" 100000 --seconds 200

if [ -n "$failed" ]; then
  echo "==== failed:$failed"
  exit 1
fi
echo "==== all done"
