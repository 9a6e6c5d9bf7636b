import json
import os
import urllib.request


def ask(method, path, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + "/v1/operator/users" + path,
        method=method,
        data=body and json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + os.environ["OPERATOR_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


users = ask("GET", "?limit=100")["data"]
print(f"users: {len(users)}")
for user in users:
    if user["email"] == "gone@example.com":
        ask("PATCH", "/" + user["id"], {"disabled": True})
        print(ask("DELETE", "/" + user["id"] + "?keys=revoke")["keys"])
