import base64
import json
import os
import urllib.request

# A recording may also travel inside JSON.
with open("speech.wav", "rb") as file:
    audio = base64.b64encode(file.read()).decode()
request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/stt/transcribe",
    data=json.dumps({"audio": audio, "format": "wav", "language": "en"}).encode(),
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer)["text"])
