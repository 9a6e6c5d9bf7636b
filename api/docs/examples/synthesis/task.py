import json
import os
import time
import urllib.request


def ask(path, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read()


text = "Once upon a time there was a telephone."
task = json.loads(ask("/api/tts/M1/async", {"text": text, "language": "en", "output_format": "wav"}))
while task["status"] in ("pending", "processing"):
    time.sleep(2)
    task = json.loads(ask(f"/api/tts/tasks/{task['task_id']}"))
if task["status"] == "failed":
    raise SystemExit(task["error"]["message"])

audio = ask(f"/api/tts/tasks/{task['task_id']}/download")
with open("story.wav", "wb") as file:
    file.write(audio)
print(f"story.wav: {len(audio)} bytes")
