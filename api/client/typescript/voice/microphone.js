// The microphone of a browser: asked for, measured, given back.

/** Why there is no microphone. Its code is denied, missing, busy or insecure. */
export class MicrophoneError extends Error {
  /** @param {string} code @param {unknown} cause */
  constructor(code, cause) {
    super(code, { cause });
    this.name = "MicrophoneError";
    this.code = code;
  }
}

const codes = {
  NotAllowedError: "denied",
  SecurityError: "denied",
  NotFoundError: "missing",
  OverconstrainedError: "missing",
  NotReadableError: "busy",
  AbortError: "busy",
};

/**
 * A microphone that is open: stream is what it gives, analyser measures it. Close it.
 */
export class Microphone {
  constructor(stream, context, source, analyser) {
    this.stream = stream;
    this.context = context;
    this.source = source;
    /** @type {AnalyserNode} */
    this.analyser = analyser;
    /** @type {AudioWorkletNode | null} */
    this.worklet = null;
  }

  /**
   * Asks for a microphone. It throws a MicrophoneError.
   * @param {{deviceId?: string, raw?: boolean}} options raw: as it sounds, for measurements; else
   *   echo, noise and level are seen to by the browser
   */
  static async open({ deviceId = "", raw = false } = {}) {
    if (!navigator.mediaDevices?.getUserMedia) throw new MicrophoneError("insecure");
    const audio = { channelCount: 1, echoCancellation: !raw, noiseSuppression: !raw, autoGainControl: !raw };
    if (deviceId) audio.deviceId = { exact: deviceId };
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio });
    } catch (e) {
      if (deviceId && codes[e.name] === "missing") return Microphone.open({ raw }); // it was unplugged
      throw new MicrophoneError(codes[e.name] ?? "busy", e);
    }
    // At the device's own rate: Firefox takes no other.
    const context = new AudioContext({ latencyHint: "interactive" });
    const source = context.createMediaStreamSource(stream);
    const analyser = new AnalyserNode(context, { fftSize: 2048 });
    source.connect(analyser);
    await context.resume();
    return new Microphone(stream, context, source, analyser);
  }

  /**
   * Hands every frame of 20 ms at 16 kHz to take, from now on.
   * @param {string} base address of the folder with the worklets
   * @param {(frame: Int16Array) => void} take
   */
  async listen(base, take) {
    await this.context.audioWorklet.addModule(base + "capture-worklet.js");
    this.worklet = new AudioWorkletNode(this.context, "parley-capture", { numberOfInputs: 1, numberOfOutputs: 1, channelCount: 1, channelCountMode: "explicit" });
    this.worklet.port.onmessage = (e) => take(e.data);
    this.source.connect(this.worklet);
    // It is silent, but only what leads to the loudspeaker is sure to be run.
    this.worklet.connect(this.context.destination);
  }

  /** Whether it is heard. A muted one sends silence. */
  get muted() {
    return !this.stream.getAudioTracks().some((t) => t.enabled);
  }
  set muted(on) {
    for (const t of this.stream.getAudioTracks()) t.enabled = !on;
  }

  /** Gives the microphone back; the browser's sign for it goes out. */
  async close() {
    for (const t of this.stream.getTracks()) t.stop();
    this.worklet?.port.postMessage("end");
    if (this.context.state !== "closed") await this.context.close();
  }
}

/**
 * The microphones there are. Their names are empty until one was allowed.
 * @returns {Promise<{id: string, name: string}[]>}
 */
export async function microphones() {
  if (!navigator.mediaDevices?.enumerateDevices) return [];
  const all = await navigator.mediaDevices.enumerateDevices();
  return all
    .filter((d) => d.kind === "audioinput" && d.deviceId)
    .map((d, i) => ({ id: d.deviceId, name: d.label || `Microphone ${i + 1}` }));
}
