#!/bin/sh
# scripts/abi.sh REVISION: compares the interface of the shared library with that of a git revision, before a release.
# Prints abidiff's report. Exit status: 0 if the interface is the same; 4 if it changed, for example by an added function; 12 if
# programs linked with the revision's library may fail with this one; another one after an error.
set -eu
if [ $# != 1 ]; then
  echo "usage: scripts/abi.sh REVISION" >&2
  exit 2
fi
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
revision=$(git -C "$root" rev-parse --short "$1^{commit}")
work=$root/build-abi
mkdir -p "$work"
rm -rf "$work/source" && mkdir "$work/source"
git -C "$root" archive "$revision" | tar -x -C "$work/source"

# build SOURCE BUILD: builds the library with debug information, from which abidiff reads the types.
build() {
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-g -O0" -DBUILD_SHARED_LIBS=ON \
    -DKANDINSKY_BUILD_CLI=OFF -DKANDINSKY_BUILD_TESTS=OFF -DKANDINSKY_WEB=OFF > "$2.log"
  cmake --build "$2" --target kandinsky >> "$2.log"
}
build "$work/source" "$work/old"
build "$root" "$work/new"
exec abidiff --headers-dir1 "$work/source/include" --headers-dir2 "$root/include" --drop-private-types \
  "$work/old/libkandinsky.so" "$work/new/libkandinsky.so"
