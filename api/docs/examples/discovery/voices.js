const ask = async (path) => (await fetch(process.env.PARLEY_URL + path)).json();

const [{ voices }, { languages }, { models }, config] = await Promise.all(
  ["/voices", "/languages", "/models", "/config"].map(ask),
);
console.log("voices:", voices.map((v) => v.id).join(" "));
console.log("languages:", languages.map((l) => l.code).join(" "));
console.log("models:", models.map((m) => m.name).join(" "));
console.log(`up to ${config.max_text_length} characters, ${config.sample_rate} samples a second`);
