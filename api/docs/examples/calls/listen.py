import asyncio
import json
import os
import urllib.request

import websockets

key = {"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]}  # a key with the mark listen


async def listen(call):
    url = os.environ["PARLEY_URL"].replace("http", "ws", 1) + f"/v1/calls/{call}/listen"
    frames = 0
    # From version 14 on the package calls it additional_headers.
    async with websockets.connect(url, extra_headers=key) as socket:
        async for message in socket:
            if isinstance(message, bytes):
                frames += 1  # 20 ms of both sides, 16-bit samples: the caller on the left
            elif json.loads(message)["type"] == "error":
                raise SystemExit(message)
            if frames == 500:
                break
    print(f"{frames / 50} seconds heard")


request = urllib.request.Request(os.environ["PARLEY_URL"] + "/v1/calls?state=live&limit=1", headers=key)
with urllib.request.urlopen(request) as answer:
    calls = json.load(answer)["data"]
if calls:
    asyncio.run(listen(calls[0]["id"]))
else:
    print("no call in progress")
