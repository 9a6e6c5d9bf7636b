package config

import "slices"

// Built are the engines of a stage, asr, llm or tts, that this program has, whatever a
// server is set to.
func Built(stage string) []string {
	switch stage {
	case "asr":
		return slices.Clone(builtASR)
	case "llm":
		return slices.Clone(builtLLM)
	case "tts":
		return slices.Clone(builtTTS)
	}
	return nil
}
