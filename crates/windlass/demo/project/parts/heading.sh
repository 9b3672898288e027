# a title with an anchor
heading() { printf '<h1>%s</h1>' "$1"; }
