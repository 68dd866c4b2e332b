#!/bin/sh
# Installs the given Debian packages and tests their main functions. Run it as root on a Debian 12 where nothing else is
# installed. It changes the machine, so use a temporary container:
#
#   docker run --rm -v "$PWD:/src" debian:12 /src/scripts/smoke_test.sh /src/build/kandinsky_*.deb /src/build/libkandinsky-dev_*.deb
#
# With libkandinsky-dev it compiles and runs the programs of tests/install; with kandinsky-networks (whose libraries are large)
# it loads the plug-ins.
set -eu
[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(dirname "$(readlink -f "$0")")
development= networks=
for package in "$@"; do
    [ -f "$package" ] || { echo "smoke test: there is no file $package" >&2; exit 2; }
    case $package in
    *libkandinsky-dev*) development=yes ;;
    *kandinsky-networks*) networks=yes ;;
    esac
done

say() { echo "smoke test: $*"; }
fail() { say "$*" >&2; exit 1; }
install() { # quietly, unless it fails
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >/tmp/smoke.log 2>&1 ||
        { tail -n 20 /tmp/smoke.log >&2; fail "apt-get install $* failed"; }
}

apt-get update -q >/tmp/smoke.log 2>&1 || { tail -n 5 /tmp/smoke.log >&2; fail "apt-get update failed"; }
for package in "$@"; do
    install "$(readlink -f "$package")"
    say "installed $(basename "$package")"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
say "$(kandinsky --version)"
kandinsky demo -q --images 12 --test-images 8 --size 48x32 -o demo >table.txt
[ -s demo/kmeans.kcal ] || fail "the demo left no calibrator"
kandinsky calibrate --probs demo/cal_probs.npy --labels demo/cal_labels.npy -o model.kcal >calibrate.txt
kandinsky inspect model.kcal | grep -qi guarantee || fail "inspect says nothing of a guarantee"
kandinsky predict model.kcal --probs demo/test_probs.npy --alpha 0.1 -o sets.npy >predict.txt
kandinsky evaluate model.kcal --probs demo/test_probs.npy --labels demo/test_labels.npy --json result.json >evaluate.txt
grep -q '"mean_ce"' result.json || fail "evaluate wrote no result"
say "demo, calibrate, inspect, predict and evaluate work"

head -c 1000 model.kcal >damaged.kcal
status=0
kandinsky predict damaged.kcal --probs demo/test_probs.npy --alpha 0.1 -o none.npy 2>error.txt || status=$?
[ $status -eq 3 ] && [ ! -e none.npy ] && [ "$(wc -l <error.txt)" -eq 1 ] || fail "a damaged calibrator: status $status, $(cat error.txt)"
say "a damaged calibrator is refused: $(cat error.txt)"

install bash bash-completion man-db groff-base
# Containers omit manual pages (path-exclude); then there is nothing to render.
if [ -e /usr/share/man/man1/kandinsky.1 ] || [ -e /usr/share/man/man1/kandinsky.1.gz ]; then
    MANWIDTH=100 man -P cat kandinsky 2>man.err >man.txt
    grep -q calibrate man.txt || fail "the manual page is not shown: $(cat man.err)"
    say "the manual page has $(wc -l <man.txt) lines"
else
    dpkg -L kandinsky | grep -q 'man1/kandinsky.1' || fail "the package has no manual page"
    say "this system leaves manual pages out"
fi
bash -c '
    source /usr/share/bash-completion/bash_completion
    _completion_loader kandinsky || true
    function=$(complete -p kandinsky | sed -n "s/.*-F \([^ ]*\).*/\1/p")
    COMP_WORDS=(kandinsky cal) COMP_CWORD=1 COMP_LINE="kandinsky cal" COMP_POINT=13
    $function kandinsky cal kandinsky
    echo "${COMPREPLY[@]}"' >completion.txt
grep -q calibrate completion.txt || fail "bash does not complete 'kandinsky cal': $(cat completion.txt)"
say "bash completes 'kandinsky cal' to: $(cat completion.txt)"

if [ -n "$development" ]; then
    install g++ cmake make
    cp "$here"/../tests/install/*.cpp "$here"/../tests/install/CMakeLists.txt .
    cmake -S . -B consumer -DCMAKE_BUILD_TYPE=Release >cmake.log 2>&1 || { cat cmake.log >&2; fail "find_package(kandinsky) failed"; }
    cmake --build consumer >cmake.log 2>&1 || { tail -n 30 cmake.log >&2; fail "a program with the library does not compile"; }
    ./consumer/your_program >consumer.txt || fail "the README's program failed"
    ./consumer/predict demo/kmeans.kcal demo/test_probs.npy >predict.txt || fail "the guide's program failed"
    tail -n 1 predict.txt
    say "find_package(kandinsky) works, and the programs of README and guide run"
fi
if [ -n "$networks" ]; then
    for plugin in torch onnx; do
        file=$(dpkg -L kandinsky-networks | grep "libkandinsky_$plugin.so" || true)
        [ -z "$file" ] || ! ldd "$file" | grep -q 'not found' || fail "$file lacks libraries: $(ldd "$file" | grep 'not found')"
    done
    echo damaged >network.pt
    status=0
    kandinsky infer --model network.pt --images demo/test_probs.npy -o out.npy 2>error.txt || status=$?
    [ $status -ne 0 ] && ! grep -q 'kandinsky-networks\|libtorch-dev' error.txt || fail "the plug-in was not found: $(cat error.txt)"
    say "the plug-ins load"
fi

DEBIAN_FRONTEND=noninteractive apt-get remove -y -q kandinsky >/tmp/smoke.log 2>&1 || fail "apt-get remove failed"
[ ! -e /usr/bin/kandinsky ] && [ ! -e /usr/share/bash-completion/completions/kandinsky ] || fail "removing leaves files behind"
say "removed again; everything works"
