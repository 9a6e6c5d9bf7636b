import asyncio
import json
import os

import websockets


async def main():
    url = os.environ["PARLEY_URL"].replace("http", "ws", 1) + "/ws/agent?agent_id=" + os.environ["AGENT_ID"]
    headers = {"X-API-Key": os.environ["PARLEY_API_KEY"]}
    asked = False
    # From version 14 on the package calls it additional_headers.
    async with websockets.connect(url, extra_headers=headers) as socket:
        async for frame in socket:
            if isinstance(frame, bytes):
                continue  # the agent's voice: 16-bit samples, 44.1 kHz
            message = json.loads(frame)
            if message["type"] == "transcript":
                print(message["role"] + ": " + message["data"])
            if message["type"] == "status" and message["data"] == "listening":
                if asked:
                    break  # the answer has been played
                await socket.send(json.dumps({"type": "text", "data": "When do you open on Monday?"}))
                asked = True


asyncio.run(main())
