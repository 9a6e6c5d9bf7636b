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


made = ask("POST", "/v1/webhooks", {"url": "https://bookings.example/parley", "events": ["call.ended", "call.transcript"]})
secret = made["secret"]  # shown this once: keep it
hook = "/v1/webhooks/" + made["id"]
for w in ask("GET", "/v1/webhooks")["data"]:
    print(w["id"], w["url"])

ask("PATCH", hook, {"description": "Bookings"})
print(ask("GET", hook)["events"])

event = ask("POST", hook + "/test")
for d in ask("GET", hook + "/deliveries?limit=5")["data"]:
    print(d["type"], d["state"], len(d["attempts"]))
ask("POST", f"{hook}/deliveries/{event['id']}/retry")

rotated = ask("POST", hook + "/rotate")  # both secrets sign for a day
print(rotated["secret"] != secret, "until", rotated["old_secret_until"])
ask("DELETE", hook)
print("removed")
