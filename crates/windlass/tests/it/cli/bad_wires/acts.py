

# What a stand-in does, whichever language it speaks: in its first attempt what its folder tells it to, in the next one its work.
if "--version" in sys.argv:
    print(VERSION)
    sys.exit()
mode = pathlib.Path("mode.txt").read_text()
if mode == "exits":
    sys.exit("no licence for today")
if "This is attempt" in begin():
    mode = "good"
if mode == "silent":
    signal.pause()
if mode == "floods":
    for number in itertools.count(2):
        say(number, "And on.")
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
