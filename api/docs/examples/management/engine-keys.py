import json
import os
import urllib.request


def ask(method, path, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + "/v1/engine-keys" + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None


ask("PUT", "/aura", {"key": "the-key-of-deepgram-2a71"})
for key in ask("GET", "")["data"]:
    print(key["engine"], "…" + key["last4"])  # the key is never shown
test = ask("POST", "/aura/test")
print(f"it works: {test['took_ms']} ms" if test["ok"] else test["error"]["code"])

ask("DELETE", "/aura")
print("removed")
