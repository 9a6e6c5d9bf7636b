import asyncio
import json
import os
import wave

import websockets


async def speak(socket):
    await socket.send(json.dumps({"language": "en", "vad": "rms"}))
    with wave.open("speech.wav") as speech:  # 16 kHz, mono, 16 bits
        while chunk := speech.readframes(1600):
            await socket.send(chunk)  # as a microphone would: a tenth of a second at a time
            await asyncio.sleep(0.1)
    await socket.send(json.dumps({"type": "end"}))


async def main():
    url = os.environ["PARLEY_URL"].replace("http", "ws", 1) + "/ws/stt"
    headers = {"X-API-Key": os.environ["PARLEY_API_KEY"]}
    # From version 14 on the package calls it additional_headers.
    async with websockets.connect(url, extra_headers=headers) as socket:
        speaking = asyncio.create_task(speak(socket))
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "error":
                raise SystemExit(message["data"])
            if message["type"] == "transcript":
                print(message["data"])
                if message["isFinal"]:
                    break
        await speaking


asyncio.run(main())
