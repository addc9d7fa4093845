#!/bin/sh
# Whether scripts/bare sees what a bare Debian lacks: three things that only a developer's machine has are leaned on in a copy of this
# checkout, one at a time, and each must fail there in the words that name it. By hand, since each makes a root: test/Bare/planted.sh
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
passed=0 failed=0

# plant NAME WORDS COMMAND: what was changed in $folder/copy is committed, and COMMAND fails with WORDS.
plant() {
  git -C "$folder/copy" -c user.name=planted -c user.email=planted@example.org commit -qam "$1"
  if "$folder/copy/scripts/bare" sh -c "$3" >"$folder/log" 2>&1; then
    echo "FAILED: $1: nobody noticed"
    failed=$((failed + 1))
  elif ! grep -q "$2" "$folder/log"; then
    echo "FAILED: $1: not a word of '$2':" && tail -n 5 "$folder/log"
    failed=$((failed + 1))
  else
    echo "found: $1: $(grep -m 1 "$2" "$folder/log")"
    passed=$((passed + 1))
  fi
  git -C "$folder/copy" reset -q --hard HEAD~1
}

git clone -q "$root" "$folder/copy"

echo 'find_path(PLANTED cuda.h PATHS /usr/local/cuda/include NO_DEFAULT_PATH REQUIRED)' >>"$folder/copy/CMakeLists.txt"
plant "a build that needs /usr/local/cuda" "Could not find PLANTED" scripts/build

sed -i '/^libcli11-dev$/d' "$folder/copy/scripts/packages.txt"
plant "a package that packages.txt lacks" "CLI11" scripts/build

sed -i 's/^import argparse$/import argparse\nimport numpy/' "$folder/copy/test/run_all.py"
plant "a Python module that only this machine has" "No module named 'numpy'" "scripts/setup && python3 test/run_all.py --build build"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
