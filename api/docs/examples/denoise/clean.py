import os
import urllib.request

with open("speech.wav", "rb") as file:
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + "/denoise",
        data=file.read(),
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "audio/wav"},
    )
with urllib.request.urlopen(request) as answer:
    wav = answer.read()
    seconds = answer.headers["X-Audio-Duration-Seconds"]
with open("clean.wav", "wb") as file:
    file.write(wav)
print(f"clean.wav: {len(wav)} bytes, {seconds} seconds charged")
