#!/bin/sh
# Every function against what it should say.
for part in parts/*.sh; do . "./$part"; done

failed=0
expect() {
    if [ "$2" = "$3" ]; then
        echo "ok      $1"
    else
        echo "failed  $1: expected '$3', got '$2'"
        failed=$((failed + 1))
    fi
}

expect slug "$(slug 'Hello,  World!')" 'hello-world'
expect count "$(count 'a bb ccc')" '3'
expect title "$(title 'hello world')" 'Hello World'
expect heading "$(heading 'hello world')" '<h1 id="hello-world">Hello World</h1>'

[ "$failed" -eq 0 ] && echo "all passed" || echo "$failed failed"
exit "$failed"
