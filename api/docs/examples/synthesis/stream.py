import asyncio
import json
import os

import websockets


async def main():
    url = os.environ["PARLEY_URL"].replace("http", "ws", 1) + "/ws/tts"
    headers = {"X-API-Key": os.environ["PARLEY_API_KEY"]}
    # From version 14 on the package calls it additional_headers.
    async with websockets.connect(url, extra_headers=headers) as socket:
        await socket.send(json.dumps({"text": "Good morning! Your table is ready.", "voice": "F1", "language": "en"}))
        pcm = b""
        async for message in socket:
            if isinstance(message, bytes):
                pcm += message  # 16-bit samples, 44.1 kHz: play them as they come
            elif message == "EOS":
                break
            elif isinstance(data := json.loads(message), dict) and data["type"] == "error":
                raise SystemExit(message)
    with open("hello.pcm", "wb") as file:
        file.write(pcm)
    print(f"hello.pcm: {len(pcm)} bytes")


asyncio.run(main())
