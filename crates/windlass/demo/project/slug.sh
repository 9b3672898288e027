#!/bin/sh
# Turns a title into the last part of a web address: "Hello, World!" becomes hello-world.
slug() {
    printf '%s' "$1" | tr 'A-Z' 'a-z' | tr ' ' '-'
}

if [ $# -gt 0 ]; then
    slug "$1"
    echo
fi
