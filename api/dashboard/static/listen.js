// Has a voice heard: that which the fields of a form choose, with the engine that they name, if any.
import { say } from "./dashboard.js";

/** What is said where the form has no text. */
const greetings = {
  en: "Hello, how can I help you?", es: "Hola, ¿en qué puedo ayudarle?", ca: "Hola, en què el puc ajudar?", gl: "Ola, en que podo axudalo?",
  eu: "Kaixo, zertan lagun diezazuket?", pt: "Olá, em que posso ajudar?", fr: "Bonjour, comment puis-je vous aider ?",
  it: "Buongiorno, come posso aiutarla?", de: "Hallo, wie kann ich Ihnen helfen?",
};

for (const button of document.querySelectorAll("button[data-listen]")) {
  if (button.form) hear(button.form, button);
}

/** The button begins, and stops; its form is shown where it waited for this script. */
function hear(form, button) {
  const said = document.getElementById("listen-said");
  const audio = new Audio();
  let address = "";
  form.hidden = button.hidden = false;
  audio.addEventListener("ended", () => stopped());
  const stopped = (text = "") => {
    button.textContent = "Listen";
    if (said) said.textContent = text;
    if (address) URL.revokeObjectURL(address);
    address = "";
  };
  button.addEventListener("click", async () => {
    if (address) {
      audio.pause();
      stopped();
      return;
    }
    const value = (name) => new FormData(form).get(name)?.toString().trim() ?? "";
    const wanted = { voice: value("voice"), language: value("language").replace("auto-", "") };
    wanted.text = (value("first_message") || greetings[wanted.language]).replace(/\{\{[^}]*\}\}/g, "…").slice(0, 300);
    const speed = Number(value("speed"));
    if (speed >= 0.5 && speed <= 2) wanted.speed = speed;
    const engine = value("engines_tts_engine");
    if (engine) wanted.engine = engine;
    button.disabled = true;
    try {
      const { ticket } = await ask(button.dataset.listen, {}, {}).then((a) => a.json());
      const answer = await ask("/tts/synthesize", wanted, { Authorization: `Bearer ${ticket}` });
      address = URL.createObjectURL(await answer.blob());
      audio.src = address;
      button.textContent = "Stop";
      if (said) said.textContent = "Speaking…";
      await audio.play();
    } catch (e) {
      stopped();
      say(e instanceof Error ? e.message : "The voice could not be heard.");
    } finally {
      button.disabled = false;
    }
  });
}

async function ask(address, body, headers) {
  const answer = await fetch(address, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers } });
  if (!answer.ok) {
    const p = await answer.json().catch(() => ({}));
    throw new Error(p.error ?? `The voice could not be heard (${answer.status}).`);
  }
  return answer;
}
