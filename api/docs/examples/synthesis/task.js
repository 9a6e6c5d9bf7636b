import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const { PARLEY_URL, PARLEY_API_KEY } = process.env;
const headers = { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" };

async function ask(path, options) {
  const answer = await fetch(PARLEY_URL + path, { headers, ...options });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

const text = "Once upon a time there was a telephone.";
const submitted = await ask("/api/tts/M1/async", {
  method: "POST",
  body: JSON.stringify({ text, language: "en", output_format: "wav" }),
});
let task = await submitted.json();
while (task.status === "pending" || task.status === "processing") {
  await sleep(2000);
  task = await (await ask(`/api/tts/tasks/${task.task_id}`)).json();
}
if (task.status === "failed") throw new Error(task.error.message);

const audio = await ask(`/api/tts/tasks/${task.task_id}/download`);
const bytes = new Uint8Array(await audio.arrayBuffer());
await writeFile("story.wav", bytes);
console.log(`story.wav: ${bytes.length} bytes`);
