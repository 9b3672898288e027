#!/bin/bash
# Stands in for an agent that has a screen of its own: it does what it is told, a line at a time.
case "$1" in --version) echo '9.9.9 (stand-in)'; exit;; esac
printf 'READY %s\n' "$(stty size)"
while read -r line; do
  case "$line" in
    colours) printf '\033[1;31mred\033[0m \033[38;2;10;200;30mgreen\033[0m \033[4munderlined\033[0m\n';;
    hostile) printf '\033]52;c;aGk=\007\033]0;title\007\033]8;;https://evil.example\007link\033]8;;\007\033[6n still here\n';;
    size) printf 'SIZE %s\n' "$(stty size)";;
    quit) echo 'bye now'; exit 0;;
    *) echo "heard $line";;
  esac
done
