import base64
import json
import os
import urllib.request

call = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "synthesize_speech", "arguments": {"text": "Good morning!", "voice": "F1", "language": "en"}},
}
request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/mcp",
    data=json.dumps(call).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["PARLEY_API_KEY"],
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    },
)
with urllib.request.urlopen(request) as answer:
    audio = json.load(answer)["result"]["content"][0]
print(f"{audio['mimeType']}: {len(base64.b64decode(audio['data']))} bytes")
