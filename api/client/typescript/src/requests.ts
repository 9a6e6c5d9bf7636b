// Requests to the service and their answers, without a word of what they are about: api.ts has the operations.

/** How a client finds its server and shows who it is. */
export interface ClientOptions {
  /** The server's address, such as https://voice.example.com. */
  baseUrl: string;
  /** An API key or a ticket, or a function that returns one for each request. Keys do not belong into browsers. */
  apiKey?: string | (() => string | Promise<string>);
  /** How long a request may take, in ms; 60,000. Answers that stream may take longer once they have begun. */
  timeoutMs?: number;
  /** How often a request is sent again that is safe to repeat and failed for now; 2. */
  retries?: number;
  /** What sends requests; the platform's fetch. */
  fetch?: typeof fetch;
}

/** What one request has besides its contents. */
export interface Asked {
  /** Ends the request. */
  signal?: AbortSignal;
  /** How long it may take, in ms; as the client's. */
  timeoutMs?: number;
}

/** A request that changes something whose version may be named. */
export interface Changed extends Asked {
  /** The version that is meant, as its ETag has it; another one is refused with 412. */
  ifMatch?: string;
}

/** A request that creates something once, however often it is sent with its key. */
export interface Repeated extends Asked {
  /** Names the request; one is made for each call that brings none. */
  idempotencyKey?: string;
}

/** An object of a stream of events: type says what the others are. */
export interface ServerEvent {
  type: string;
  [name: string]: unknown;
}

/** What the server answered instead of doing what it was asked. */
export class ParleyError extends Error {
  override name = "ParleyError";
  constructor(
    message: string,
    /** Of HTTP; 0 where a socket said it. */
    readonly status: number,
    /** Such as billing.insufficient_balance; empty where the answer had none. */
    readonly code: string,
    /** What exactly was wrong; may be empty. */
    readonly detail: string,
    /** The same request may succeed later. */
    readonly retryable: boolean,
    /** Names the request for the server's operator; may be empty. */
    readonly requestId: string,
    /** The fields that were wrong. */
    readonly problems: Array<{ path: string; problem: string }>,
  ) {
    super(message);
  }
}

interface Sent {
  body?: unknown;
  contentType?: string;
  query?: Record<string, unknown>;
  /** The request has a name under which it may be repeated. */
  repeat?: boolean;
  options?: Changed & Repeated;
}

const TIMEOUT = 60_000;
const RETRIES = 2;
const MAX_WAIT = 20_000; // ms between two tries, whatever the server wishes
const AGAIN = [408, 429, 502, 503, 504];

/** The part of a client that is the same for every operation. */
export class Requests {
  readonly #options: ClientOptions;
  readonly #base: string;

  constructor(options: ClientOptions) {
    if (!/^https?:\/\/[^/]/.test(options.baseUrl)) throw new TypeError("baseUrl must begin with http:// or https://");
    this.#options = options;
    this.#base = options.baseUrl.replace(/\/+$/, "");
  }

  /** The server's address. */
  get baseUrl(): string {
    return this.#base;
  }

  /** The credential of the next request; empty where there is none. */
  async credential(): Promise<string> {
    const { apiKey = "" } = this.#options;
    return typeof apiKey === "string" ? apiKey : apiKey();
  }

  protected async json<T>(verb: string, path: string, sent: Sent): Promise<T> {
    return (await (await this.raw(verb, path, sent)).json()) as T;
  }

  protected async none(verb: string, path: string, sent: Sent): Promise<void> {
    await (await this.raw(verb, path, sent)).body?.cancel();
  }

  protected pages<P extends { data: T[]; next_cursor: string | null }, T>(verb: string, path: string, sent: Sent): Page<P, T> {
    return new Page((cursor) => this.json<P>(verb, path, cursor === undefined ? sent : { ...sent, query: { ...sent.query, cursor } }));
  }

  /** Reads Server-Sent Events (HTML standard, section 9.2.6) until the server or the caller ends them. */
  protected async *events(verb: string, path: string, sent: Sent): AsyncGenerator<ServerEvent, void, void> {
    const answer = await this.raw(verb, path, sent, "text/event-stream");
    if (answer.body === null) return;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        text += value;
        const lines = text.split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) if (line.startsWith("data:")) yield JSON.parse(line.slice(5)) as ServerEvent;
      }
    } finally {
      await reader.cancel().catch(() => {}); // it has ended
    }
  }

  /** Sends a request until it is answered well. The caller reads the answer's body. */
  protected async raw(verb: string, path: string, sent: Sent, accept = "*/*"): Promise<Response> {
    const { options = {} } = sent;
    const headers = new Headers({ Accept: accept });
    if (options.ifMatch !== undefined) headers.set("If-Match", options.ifMatch);
    const named = sent.repeat || options.idempotencyKey !== undefined;
    if (named) headers.set("Idempotency-Key", options.idempotencyKey ?? unique());
    const body = payload(sent, headers);
    const url = this.#base + path + queryOf(sent.query ?? {});
    const safe = named || verb === "GET";
    const most = safe ? (this.#options.retries ?? RETRIES) : 0;
    for (let tries = 0; ; tries++) {
      const answer = await this.#once(url, { method: verb, headers, body }, options).catch((e: unknown) => {
        // Only the network's failures are TypeErrors; an end that was asked for is not repeated.
        if (tries >= most || options.signal?.aborted || !(e instanceof TypeError)) throw e;
        return null;
      });
      if (answer?.ok) return answer;
      if (answer && (tries >= most || !AGAIN.includes(answer.status))) throw await refusal(answer);
      await answer?.body?.cancel();
      await pause(Math.min(MAX_WAIT, after(answer, tries)), options.signal);
    }
  }

  async #once(url: string, init: RequestInit & { headers: Headers }, { signal, timeoutMs }: Asked): Promise<Response> {
    const credential = await this.credential();
    if (credential) init.headers.set("Authorization", "Bearer " + credential);
    const end = new AbortController();
    const stop = () => end.abort(signal?.reason);
    if (signal?.aborted) stop();
    // It stays while the body is read, which the caller's signal ends as well.
    signal?.addEventListener("abort", stop, { once: true });
    const limit = timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT;
    const timer = setTimeout(() => end.abort(new DOMException(`No answer within ${limit} ms.`, "TimeoutError")), limit);
    try {
      return await (this.#options.fetch ?? fetch)(url, { ...init, signal: end.signal, redirect: "error" });
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * A list. Awaited it is its first page; iterated with for await it is every entry of every page.
 */
export class Page<P extends { data: T[]; next_cursor: string | null }, T> implements PromiseLike<P>, AsyncIterable<T> {
  readonly #read: (cursor?: string) => Promise<P>;
  #first: Promise<P> | undefined;

  constructor(read: (cursor?: string) => Promise<P>) {
    this.#read = read;
  }

  then<A = P, B = never>(done?: ((page: P) => A | PromiseLike<A>) | null, failed?: ((why: unknown) => B | PromiseLike<B>) | null): Promise<A | B> {
    this.#first ??= this.#read();
    return this.#first.then(done, failed);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (let page = await this.then((first) => first); ; page = await this.#read(page.next_cursor)) {
      yield* page.data;
      if (page.next_cursor === null) return;
    }
  }
}

// The body as it is sent: a form where it holds files, else JSON; text with its own media type.
function payload({ body, contentType }: Sent, headers: Headers): BodyInit | undefined {
  if (body === undefined) return undefined;
  if (contentType !== undefined) {
    headers.set("Content-Type", contentType);
    return body as BodyInit;
  }
  if (body instanceof FormData) return body;
  if (Object.values(body as object).some((v) => v instanceof Blob)) {
    const form = new FormData();
    for (const [name, v] of Object.entries(body as Record<string, unknown>)) {
      if (v instanceof Blob) form.set(name, v, (v as File).name ?? name);
      else if (v !== undefined) form.set(name, String(v));
    }
    return form;
  }
  headers.set("Content-Type", "application/json");
  return JSON.stringify(body);
}

function queryOf(values: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, v] of Object.entries(values)) {
    if (v === undefined || v === null) continue;
    if (Array.isArray(v)) query.set(name, v.join(","));
    else if (typeof v === "object") for (const [key, one] of Object.entries(v)) query.set(`${name}[${key}]`, String(one));
    else query.set(name, String(v));
  }
  const text = query.toString();
  return text && "?" + text;
}

async function refusal(answer: Response): Promise<ParleyError> {
  const text = await answer.text().catch(() => "");
  let p: { code?: string; error?: string; detail?: string; retryable?: boolean; errors?: Array<{ path: string; problem: string }> } = {};
  try {
    p = JSON.parse(text) ?? {};
  } catch {
    // It came from something between us and the server.
  }
  const message = p.error ?? `The server answered ${answer.status}.`;
  return new ParleyError(message, answer.status, p.code ?? "", p.detail ?? "", p.retryable ?? answer.status >= 500, answer.headers.get("X-Request-Id") ?? "", p.errors ?? []);
}

// A name that no other request has. It is no secret.
function unique(): string {
  const random = () => Math.random().toString(36).slice(2);
  return globalThis.crypto?.randomUUID?.() ?? `${Date.now().toString(36)}-${random()}${random()}`; // Node.js 18 has none
}

// How long to wait before the next try, in ms.
function after(answer: Response | null, tries: number): number {
  const asked = Number(answer?.headers.get("Retry-After") ?? 0) * 1000;
  return asked > 0 ? asked : 500 * 2 ** tries * (0.8 + 0.4 * Math.random());
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), failed(signal.reason)), { once: true });
  });
}
