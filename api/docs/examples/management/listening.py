import json
import os
import urllib.request


def ask(method, path, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None


address = "http://localhost:3000/parley"  # for people: nothing is sent there
hook = "/v1/webhooks/" + ask("POST", "/v1/webhooks", {"url": address, "listen": True})["id"]
ask("POST", hook + "/test")

event = ask("POST", hook + "/deliveries/take?wait=20").get("event")  # None: none has come
print(event["type"])

post = urllib.request.Request(address, method="POST", data=event["body"].encode(), headers=event["headers"])
try:
    print(urllib.request.urlopen(post).status)
except OSError:
    print("nothing answers there")

# The status of the answer; 0 when there was none.
delivery = ask("POST", f"{hook}/deliveries/{event['id']}/attempts", {"status": 200, "latency_ms": 12})
print(delivery["state"])
ask("DELETE", hook)
print("removed")
