# Hello World of 'hello world'
title() { printf '%s' "$1"; }
