# hello-world of 'Hello,  World!'
slug() { printf '%s' "$1" | tr ' ' '-'; }
