import { writeFile } from "node:fs/promises";

const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const socket = new WebSocket(`${PARLEY_URL.replace(/^http/, "ws")}/ws/tts?api_key=${PARLEY_API_KEY}`);
socket.binaryType = "arraybuffer";
const chunks = [];

socket.onopen = () =>
  socket.send(JSON.stringify({ text: "Good morning! Your table is ready.", voice: "F1", language: "en" }));
socket.onmessage = async ({ data }) => {
  if (data instanceof ArrayBuffer) {
    chunks.push(new Uint8Array(data)); // 16-bit samples, 44.1 kHz: play them as they come
  } else if (data === "EOS") {
    socket.close();
    const pcm = Buffer.concat(chunks);
    await writeFile("hello.pcm", pcm);
    console.log(`hello.pcm: ${pcm.length} bytes`);
  } else if (JSON.parse(data).type === "error") {
    throw new Error(data);
  }
};
