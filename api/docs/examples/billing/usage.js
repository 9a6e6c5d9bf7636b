import { writeFile } from "node:fs/promises";

const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(path) {
  const answer = await fetch(PARLEY_URL + path, { headers: { Authorization: `Bearer ${PARLEY_API_KEY}` } });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

const usage = await (await ask("/v1/usage?group_by=component&from=2026-03-01")).json();
for (const { components } of usage.data) {
  for (const c of components) console.log(`${c.component}: ${c.quantity} ${c.unit}s, ${c.amount} USD`);
}
console.log(`total ${usage.total} USD, and ${usage.accrued} USD in progress`);

// Files for the books; text() fails when one breaks off.
for (const name of ["usage.csv", "ledger.csv"]) {
  const table = await (await ask(`/v1/${name}`)).text();
  await writeFile(name, table);
  console.log(table.split("\r\n")[0]);
}
