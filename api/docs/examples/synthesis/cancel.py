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


text = "Once upon a time there was a telephone. " * 500
task = ask("POST", "/api/tts/M1/async", {"text": text, "language": "en"})
print(ask("DELETE", f"/api/tts/tasks/{task['task_id']}")["status"])
