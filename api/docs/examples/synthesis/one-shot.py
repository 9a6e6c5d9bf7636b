import json
import os
import urllib.request

request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/tts/synthesize",
    data=json.dumps({"text": "Good morning! Your table is ready.", "voice": "F1", "language": "en"}).encode(),
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    wav = answer.read()
with open("hello.wav", "wb") as file:
    file.write(wav)
print(f"hello.wav: {len(wav)} bytes")
