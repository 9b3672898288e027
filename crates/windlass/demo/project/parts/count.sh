# how many words
count() { printf '%s' "$1" | wc -c; }
