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
        return json.load(answer)


topup = ask("POST", "/v1/topups", {"amount": 25})
print("Pay at", topup["url"])
print(topup["id"], ask("GET", f"/v1/topups/{topup['id']}")["state"])  # succeeded once it is paid
for one in ask("GET", "/v1/topups?limit=5")["data"]:
    print(one["created_at"], one["amount"], one["state"])
