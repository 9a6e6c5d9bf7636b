// What the server says instead of letting a client in.

/**
 * The error of an answer: code is the server's, detail what is wrong exactly, again whether it may help to try again.
 * @param {Response} answer
 * @returns {Promise<Error & {code: string, detail: string, again: boolean}>}
 */
export async function refusal(answer) {
  const problem = await answer.json().catch(() => ({}));
  const e = new Error(problem.error ?? `The server answered ${answer.status}.`);
  return Object.assign(e, { code: problem.code ?? "", detail: problem.detail ?? "", again: answer.status >= 500 });
}
