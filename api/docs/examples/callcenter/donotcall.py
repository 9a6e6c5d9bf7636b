import json
import os
import urllib.request


def ask(method, path, body=None, kind="application/json"):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + "/v1/do-not-call" + path,
        method=method,
        data=body.encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": kind},
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


ask("POST", "", json.dumps({"number": "+34 612 345 675", "reason": "wrote to us"}))
entry = json.loads(ask("GET", "/+34612345675"))
print(f"{entry['number']} is not called: {entry['reason']}")
print(len(json.loads(ask("GET", "?limit=10"))["data"]), "numbers on this page")

# A list from elsewhere, and ours as a file.
result = json.loads(ask("POST", ".csv", "number,reason\n+34612345676,asked by mail\n", "text/csv"))
print(f"{result['added']} added, {result['known']} known")
print(ask("GET", ".csv"))

for number in ["+34612345675", "+34612345676"]:
    ask("DELETE", "/" + number)
print("removed")
