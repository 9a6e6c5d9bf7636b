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


created = ask("POST", "/v1/keys", {"name": "website"})  # the answer holds the key itself, this once
for key in ask("GET", "/v1/keys")["data"]:
    print(key["id"], key["name"])
ask("DELETE", f"/v1/keys/{created['id']}")
print(created["id"], "revoked")
