import { createHash } from "node:crypto";

const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(path) {
  const answer = await fetch(PARLEY_URL + path, { headers: { Authorization: `Bearer ${PARLEY_API_KEY}` } });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

const { data } = await (await ask("/v1/consents?limit=10")).json();
console.log(`${data.length} rows on this page`);

// No cell of this file holds a comma or a quote.
const [names, ...rows] = (await (await ask("/v1/consents.csv")).text()).trim().split("\r\n").map((line) => line.split(","));
let seal = Buffer.alloc(0);
for (const cells of rows) {
  const row = Object.fromEntries(names.map((name, i) => [name, cells[i]]));
  const texts = [row.account_id, row.call_id, row.agent_id, row.key_id, row.ip, row.at].map((text) => Buffer.from(text));
  const hash = createHash("sha256");
  for (const part of [seal, ...texts, Buffer.from(row.to_hash, "hex")]) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(part.length));
    hash.update(length).update(part);
  }
  seal = hash.digest();
  if (row.seal !== seal.toString("hex")) throw new Error(`row ${row.no} does not follow from those before it`);
}
console.log(`${rows.length} rows hold together; the last seal is ${seal.toString("hex") || "none"}`);
