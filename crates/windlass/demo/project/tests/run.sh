#!/bin/sh
# sh tests/run.sh: says which cases hold, and fails when one does not.
cd "$(dirname "$0")/.." || exit 2
. ./slug.sh
failed=0

expect() {
    found=$(slug "$1")
    if [ "$found" = "$2" ]; then
        echo "ok      $1 -> $2"
    else
        echo "NOT OK  $1 -> $found, expected $2"
        failed=$((failed + 1))
    fi
}

expect "Windlass" "windlass"
expect "Hello World" "hello-world"
expect "Hello, World!" "hello-world"
expect "  Spaces   everywhere " "spaces-everywhere"
expect "Rock & Roll: 50 Years" "rock-roll-50-years"

[ "$failed" -eq 0 ] || { echo "$failed failed"; exit 1; }
echo "all passed"
