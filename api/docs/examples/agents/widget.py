import json
import os
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PARLEY = os.environ["PARLEY_URL"]
POLICY = f"default-src 'self'; script-src 'self' {PARLEY}; connect-src 'self' {PARLEY} {PARLEY.replace('http', 'ws', 1)}"
PAGE = f"""<!doctype html>
<html lang="en">
<title>Casa Lola</title>
<h1>Casa Lola</h1>
<script src="{PARLEY}/widget.js" data-agent-name="Lola" data-ticket-url="/talk-ticket" async></script>
</html>"""


def mint():
    """A ticket for one conversation of five minutes. Count here how many each visitor gets."""
    wanted = {"agent_id": os.environ["AGENT_ID"], "ttl_seconds": 60, "max_sessions": 1, "max_duration_seconds": 300}
    request = urllib.request.Request(
        PARLEY + "/v1/session-tickets",
        data=json.dumps(wanted).encode(),
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read()


class Site(BaseHTTPRequestHandler):
    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path != "/":
            return self.answer(404)
        self.answer(200, PAGE.encode(), Content_Type="text/html; charset=utf-8", Content_Security_Policy=POLICY)

    def do_POST(self):
        if self.path != "/talk-ticket":
            return self.answer(404)
        try:
            ticket = mint()
        except OSError as error:
            self.log_error("%s", error)
            return self.answer(502)
        self.answer(200, ticket, Content_Type="application/json", Cache_Control="no-store")


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Site)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
