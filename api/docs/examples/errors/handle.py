import json
import os
import urllib.error
import urllib.request

request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/tts/synthesize",
    data=json.dumps({"text": "Hello", "voice": "Z9", "language": "en"}).encode(),
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
)
try:
    urllib.request.urlopen(request)
except urllib.error.HTTPError as refused:
    why = json.load(refused)
    print(f"{refused.status} {why['code']}: {why['error']}", "Try again." if why["retryable"] else "Change the request.")
