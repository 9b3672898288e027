

# What a stand-in does, whichever language it speaks: in its first attempt what its folder tells it to, in the next one its work.
if "--version" in sys.argv:
    print(VERSION)
    sys.exit()
mode = pathlib.Path("mode.txt").read_text()
if mode == "exits":
    sys.exit("no licence for today")


# It is not ready to be spoken to before somebody says so.
def starts():
    if mode == "slow":
        sys.stdout.flush()
        pathlib.Path("go").read_text()


task = begin()
if mode == "slow":
    sys.stdout.flush()
    end("Did " + hear_more())
    sys.stdout.flush()
    sys.stdin.buffer.read()
    sys.exit()
if "This is attempt" in task or "another way" in task:
    mode = "good"
if mode == "silent":
    signal.pause()
if mode == "floods":
    for number in itertools.count(2):
        say(number, "And on.")
if mode == "another":
    say(2, '@task::{"execution":"0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11","nonce":"x","event":"1","kind":"failed_claim"}')
if mode == "twice":
    ask("touch once.txt")
    pathlib.Path("once.txt").touch()
    answer()
    answer()
if mode in ("unasked", "unasked_and_fails"):
    acts("touch unasked.txt", 0 if mode == "unasked" else 1)
    end("It is done.")
    sys.stdout.flush()
    signal.pause()
if mode == "changes":
    ask("true")
    for _ in range(30):
        mumble()
    sys.stdout.flush()
    signal.pause()
if mode == "login":
    fail()
    sys.stdout.flush()
    sys.stdin.buffer.read()
    sys.exit()
if mode == "half":
    half()
    sys.stdout.flush()
    os._exit(0)
if mode == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if mode == "children":
    subprocess.Popen(["sleep", "271"], start_new_session=True)
pathlib.Path("there.txt").touch()
end(json.dumps({"success": True, "bindings_delta": {"summary": "it is there"}, "artifacts": ["there.txt"]}))
sys.stdout.flush()
# Until nobody speaks to it any more.
sys.stdin.buffer.read()
