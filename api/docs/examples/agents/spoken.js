import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const { PARLEY_URL, PARLEY_API_KEY, AGENT_ID } = process.env;
const question = (await readFile("speech.wav")).subarray(44); // 16 kHz, mono, 16 bits: past the header

const query = `api_key=${PARLEY_API_KEY}&agent_id=${AGENT_ID}`;
const socket = new WebSocket(`${PARLEY_URL.replace(/^http/, "ws")}/ws/agent?${query}`);
socket.binaryType = "arraybuffer";
const voice = [];

// A microphone that has said the question goes on to send silence.
async function speak() {
  for (let at = 0; socket.readyState === WebSocket.OPEN; at += 640) {
    const chunk = question.subarray(at, at + 640);
    socket.send(chunk.length ? chunk : new Uint8Array(640));
    await sleep(20);
  }
}

let microphone;
socket.onmessage = async ({ data }) => {
  if (data instanceof ArrayBuffer) {
    if (microphone) voice.push(new Uint8Array(data));
    return;
  }
  const message = JSON.parse(data);
  if (message.type === "transcript") console.log(`${message.role}: ${message.data}`);
  if (message.type !== "status" || message.data !== "listening") return;
  if (!microphone) {
    microphone = speak();
  } else if (voice.length) {
    socket.close();
    const pcm = Buffer.concat(voice);
    await writeFile("answer.pcm", pcm);
    console.log(`answer.pcm: ${pcm.length} bytes`);
  }
};
