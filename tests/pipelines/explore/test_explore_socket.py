# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/explore.py: refuses strangers and invalid messages on its socket, and reports pipelines that fail."""
import http.client
import json
import random
import urllib.parse

from browser import Explored, painted, put, text, value
from harness import expect, pipelines, python, test, watchdog


def asked(link, path, **headers):
    """Returns the status and the text of a response."""
    connection = http.client.HTTPConnection(link.hostname, link.port, timeout=watchdog)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, content in headers.items():
        connection.putheader(name, content)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read().decode(errors="replace")


def nonsense(seed, count):
    """Yields random messages. Some resemble the page's messages."""
    dice = random.Random(seed)
    words = ["do", "show", "set", "values", "seen", "element", "copy", "name", "value", "at", "pictures", "before", "sigma", "width", "\0", "é", "ping"]

    def anything(depth=0):
        kind = dice.randrange(8 if depth < 3 else 6)
        if kind == 6:
            return [anything(depth + 1) for _ in range(dice.randrange(4))]
        if kind == 7:
            return {dice.choice(words): anything(depth + 1) for _ in range(dice.randrange(4))}
        return [None, True, dice.randrange(-1 << 70, 1 << 70), dice.uniform(-1e300, 1e300), dice.choice(words), "x" * dice.randrange(2000)][kind]

    real = [{"do": "show", "pictures": ["before"], "width": 1e5, "height": 1, "values": True, "cloud": True}, {"do": "values", "at": [[-5, 1e5]]},
            {"do": "set", "name": "sigma", "value": "nan"}, {"do": "set", "name": "regions", "value": ";" * 3000}, {"do": "ply"},
            {"do": "element", "name": "fakesink"}, {"do": "run"}, {"do": "browse", "folder": "../.."}, {"do": "open", "names": ["/etc/passwd"], "packed": False},
            {"do": "seek", "position": 1e5}, {"do": "pause", "paused": 1}, {"do": "seen"}, {"do": "cloud-seen"}, {"do": "snapshot"}, {"do": "set", "name": "active-backend", "value": "cuda"}]
    for _ in range(count):
        said = dice.choice([*real, anything()])
        if isinstance(said, dict) and dice.random() < 0.5:
            said = {**said, dice.choice(["do", *said]): anything()}
        content = json.dumps(said)
        yield content[:dice.randrange(len(content) + 1)] if dice.random() < 0.2 else content


@test("pipelines/explore.py requires its token, and serves only listed paths")
def _(place):
    with Explored(place, "--element", "cudagaussblur", place.materials / "picture.png") as explored:
        link = urllib.parse.urlsplit(explored.link)
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        own = f"{link.hostname}:{link.port}"
        for path, headers, status in ((f"/?{link.query}", {}, 200), ("/", {}, 403), ("/?token=x", {}, 403), ("/socket", upgrade, 403),
                                      (f"/?{link.query}", {"Host": "evil.example"}, 403), (f"/?{link.query}", {"Host": f"localhost:{link.port}"}, 200),
                                      ("/main.js", {"Host": f"evil.example:{link.port}"}, 403), ("/main.js", {}, 200),
                                      (f"/socket?{link.query}", {**upgrade, "Origin": "http://evil.example"}, 403),
                                      (f"/socket?{link.query}", {**upgrade, "Origin": "null"}, 403), (f"/socket?{link.query}", {**upgrade, "Host": "a@b:c"}, 403),
                                      ("/server.py", {}, 404), ("/../server.py", {}, 404), ("/%2e%2e/server.py", {}, 404), ("//etc/passwd", {}, 404),
                                      ("/style.css/../../server.py", {}, 404), ("/page/main.js", {}, 404)):
            answer, content = asked(link, path, **headers)
            expect(answer == status, f"{path} {headers}: {answer}, {content[:80]}")
        # The socket refuses a page of another site in the same browser, even if that page has the token.
        stranger = explored.browser.open("about:blank")
        reached = stranger.run(f"new Promise(done => {{ const s = new WebSocket('ws://{own}/socket?{link.query}'); "
                               "s.onopen = () => done('open'); s.onerror = () => done('refused'); })")
        expect(reached == "refused", f"the socket is {reached} for another site")
        stranger.close()


@test("pipelines/explore.py survives random messages on its socket")
def _(place):
    with Explored(place, "--element", "cudagaussblur", place.materials / "picture.png") as explored:
        painted(explored.page)
        link = urllib.parse.urlsplit(explored.link)
        said = list(nonsense(1, 400))
        answers = explored.page.run(f"""new Promise(done => {{
            const s = new WebSocket('ws://{link.netloc}/socket?{link.query}');
            let sent = false, refused = 0;
            const end = () => {{ if (sent && refused > 150) {{ s.close(); done(refused); }} }};
            s.onmessage = ({{data}}) => {{ if (typeof data === 'string' && JSON.parse(data).is === 'refused') refused++; end(); }};
            s.onclose = () => done(refused);
            s.onopen = async () => {{
              for (const text of {json.dumps(said)}) {{ s.send(text); await new Promise(next => setTimeout(next, 2)); }}
              s.send(new Uint8Array(1000));
              sent = true;
              end();
            }};
        }})""")
        expect(answers > 150, f"{answers} refusals")
        # A message that is too large closes its socket, but explore.py continues.
        closed = explored.page.run(f"""new Promise(done => {{ const s = new WebSocket('ws://{link.netloc}/socket?{link.query}');
            s.onopen = () => s.send('x'.repeat(1e6)); s.onclose = ({{code}}) => done(code); }})""")
        expect(closed == 1009, f"closed with {closed}")
        refusal = explored.page.run(f"""new Promise(done => {{ const s = new WebSocket('ws://{link.netloc}/socket?{link.query}');
            s.onmessage = ({{data}}) => {{ if (typeof data === 'string' && JSON.parse(data).is === 'refused') {{ s.close(); done(JSON.parse(data).text); }} }};
            s.onopen = () => {{ for (let i = 0; i < 200; ++i) s.send(JSON.stringify({{do: 'again'}})); }}; }})""")
        expect(refusal == "50 requests are waiting: try again in a moment.", refusal)
        put(explored.page, "sigma", "7")
        explored.page.wait("document.querySelector('[data-name=sigma] [type=text]').value === '7'", "an answer after the nonsense")
        painted(explored.page)
        pages = [explored.open() for _ in range(7)]
        for page in pages:
            page.close()


@test("pipelines/explore.py sends the next picture after the page has shown the last one, at most 30 a second")
def _(place):
    place.play("videotestsrc pattern=ball num-buffers=120 ! video/x-raw,format=I420,width=96,height=64,framerate=60/1 "
               "! x264enc speed-preset=ultrafast ! h264parse ! mp4mux ! filesink location=fast.mp4")
    with Explored(place, "--element", "cudagaussblur", "fast.mp4") as explored:
        link = urllib.parse.urlsplit(explored.link)
        # The first picture is acknowledged a second after its arrival. The next picture must not be sent before. The measurement
        # starts with this acknowledgement, because the first picture may be delayed.
        unseen, seconds = explored.page.run(f"""new Promise(done => {{
            const s = new WebSocket('ws://{link.netloc}/socket?{link.query}'), times = [];
            let unseen;
            s.binaryType = 'arraybuffer';
            const seen = () => s.send(JSON.stringify({{do: 'seen'}}));
            s.onmessage = ({{data}}) => {{
              if (typeof data === 'string') return;
              times.push(performance.now());
              if (times.length === 1) setTimeout(() => {{ unseen = times.length; seen(); }}, 1000);  // in which no other may come
              else if (times.length === 32) {{ s.close(); done([unseen, (times[31] - times[0]) / 1000 - 1]); }}
              else if (unseen) seen();
            }};
            s.onopen = () => s.send(JSON.stringify({{do: 'show', pictures: ['before', 'after'], width: 100, height: 100, values: false, cloud: false}}));
        }})""")
        expect(unseen == 1, f"{unseen} pictures come before the first one has been seen")
        expect(seconds > 0.95, f"30 pictures come in {seconds} s")


@test("pipelines/explore.py reports failures on the page and in the terminal, and continues")
def _(place):
    pair = place.materials / "left.png", place.materials / "right.png"
    with Explored(place, *pair, "num-disparities=32", "frame-packing=mono") as explored:
        page = explored.page
        painted(page)
        # Without three.js, the page reports what is missing.
        page.call("Network.enable")
        page.call("Network.setBlockedURLs", urls=["*three.module.js"])
        page.run("document.getElementById('show-cloud').click()")
        page.wait("document.getElementById('banners').textContent.includes('libjs-three')", "the name of the package")
        # Without a calibration, explore.py sets an arbitrary focal length, which the page does not show.
        expect(value(page, "focal-length") == "0", value(page, "focal-length"))
    film = (place.materials / "film.mp4").read_bytes()
    (place.folder / "cut.mp4").write_bytes(film[:len(film) // 3])
    for arguments, words in ((["/dev/video99"], "no such file or camera"), (["cut.mp4"], "cut.mp4: "), (["--element", "fakesink"], "--element=fakesink is not an element of this plug-in"),
                             (["a", "b", "c"], "one input too many"), ([pair[0], "sigma=3"], "cudahistequalize has no property sigma"),
                             (["--host", "192.0.2.1"], "Choose another --host"), (["--port", "99999"], "--port: needs a whole number from 0 to 65535, not 99999"),
                             ([*pair, "frame-packing=side-by-side"], "frame-packing=side-by-side needs one input, not 2"),
                             (["--element", "cudasgmstereo", pair[0]], "two inputs, left and right, or one input with --packed, not 1"),
                             (["--calibrate", "out.yml", "--square", "9", pair[0]], "--calibrate needs two inputs, or one with --packed, not 1"),
                             (["--calibrate", "out.yml", *pair], "--calibrate needs --square: measure"),
                             (["--calibrate", "out.yml", *pair, "--square", "0"], "--square: needs a length in mm above 0 and below 1000000, not 0"),
                             (["--calibrate", "out.yml", *pair, "--square", "9", "--pairs", "2"], "--pairs needs a number of at least 5, not 2"),
                             (["--calibrate", "out.yml", *pair, "--square", "9", "--board", "9"], '--board: needs COLUMNSxROWS with at least 2 of each, such as 9x6, not "9"'),
                             (["--calibrate", "out.txt", *pair, "--square", "9"], "use .yml"),
                             (["--calibrate", "none/out.yml", *pair, "--square", "9"], "there is no folder none")):
        result = place.run(python, pipelines / "explore.py", *arguments)
        expect(result.status in (1, 2) and words in result.err and "Traceback" not in result.err, f"{arguments}: {result.text}")
    # A network camera that is missing is reported only when the pipeline plays.
    with Explored(place, "--element", "cudahistequalize", "rtsp://127.0.0.1:9/") as explored:
        explored.page.wait("!!document.querySelector('#banners .error')", "the error")
        expect("error: " in explored.program.text() and "Traceback" not in explored.program.text() and text(explored.page, "inputs") == "rtsp://127.0.0.1:9/", explored.program.text())
