import os
import urllib.parse
import urllib.request

server = os.environ["PARLEY_URL"]


def ask(method, url, body=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers["Authorization"] = "Bearer " + os.environ["PARLEY_API_KEY"]
    return urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method))


offer = open("offer.sdp", "rb").read()  # what your WebRTC library offers
begun = ask("POST", f"{server}/webrtc/agent?agent_id={os.environ['AGENT_ID']}", offer, Content_Type="application/sdp")
print(begun.read().decode())  # the library takes the answer, and connects
session = urllib.parse.urljoin(server, begun.headers["Location"])

changed = ask("PATCH", session, b"a=end-of-candidates\r\n",  # or candidates that were found later
              Content_Type="application/trickle-ice-sdpfrag", If_Match=begun.headers["ETag"])
print(changed.status)

print(ask("DELETE", session).status)
