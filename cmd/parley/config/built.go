package config

import "slices"

// Built are the engines of a stage, asr, llm, tts, vad or denoise, that this program has,
// whatever a server is set to.
func Built(stage string) []string {
	return slices.Clone(map[string][]string{"asr": builtASR, "llm": builtLLM, "tts": builtTTS, "vad": builtVAD, "denoise": builtDenoise}[stage])
}
