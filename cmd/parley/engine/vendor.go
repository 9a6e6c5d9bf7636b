package engine

import (
	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/anthropic"
	"parley/inference/assemblyai"
	"parley/inference/cartesia"
	"parley/inference/deepgram"
	"parley/inference/elevenlabs"
	"parley/inference/espeak"
	"parley/inference/gemini"
	"parley/inference/inworld"
	"parley/inference/openai"
	"parley/inference/pocketsphinx"
	"parley/inference/rime"
	"parley/inference/scripted"
	"parley/inference/soniox"
)

// makers make the engines of one stage, by vendor. They contact nobody.
type makers[E any] map[string]func(config.Engine) (E, error)

// recognisers are those of recognition; embedded makes the one that runs on this machine.
func recognisers(embedded func(config.Engine) (inference.ASR, error)) makers[inference.ASR] {
	return makers[inference.ASR]{
		pocketsphinx.Name: embedded,
		"openai": func(e config.Engine) (inference.ASR, error) {
			if openai.Live(e.Model) {
				return openai.NewLiveASR(dialect(e))
			}
			return openai.NewASR(dialect(e))
		},
		"assemblyai": func(e config.Engine) (inference.ASR, error) {
			return assemblyai.NewASR(assemblyai.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Options: e.Options})
		},
		"cartesia": func(e config.Engine) (inference.ASR, error) {
			return cartesia.NewASR(cartesia.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Options: e.Options})
		},
		"elevenlabs": func(e config.Engine) (inference.ASR, error) {
			return elevenlabs.NewASR(elevenlabs.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Options: e.Options})
		},
		"soniox": func(e config.Engine) (inference.ASR, error) {
			return soniox.NewASR(soniox.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Options: e.Options})
		},
		"deepgram": func(e config.Engine) (inference.ASR, error) {
			return deepgram.NewASR(deepgram.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Options: e.Options})
		},
	}
}

// models are those that answer.
var models = makers[inference.LLM]{
	"scripted": func(config.Engine) (inference.LLM, error) { return scripted.New(), nil },
	"openai":   func(e config.Engine) (inference.LLM, error) { return openai.NewLLM(dialect(e)) },
	"anthropic": func(e config.Engine) (inference.LLM, error) {
		return anthropic.NewLLM(anthropic.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Options: e.Options})
	},
	"gemini": func(e config.Engine) (inference.LLM, error) {
		return gemini.NewLLM(gemini.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Options: e.Options})
	},
}

// voices are those of synthesis; embedded and neural make those that run on this machine.
func voices(embedded, neural func(config.Engine) (inference.TTS, error)) makers[inference.TTS] {
	return makers[inference.TTS]{
		espeak.Name: embedded,
		"onnx":      neural,
		"openai":    func(e config.Engine) (inference.TTS, error) { return openai.NewTTS(dialect(e)) },
		"cartesia": func(e config.Engine) (inference.TTS, error) {
			return cartesia.NewTTS(cartesia.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Voices: e.Voices, Options: e.Options})
		},
		"deepgram": func(e config.Engine) (inference.TTS, error) {
			return deepgram.NewTTS(deepgram.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Voices: e.Voices, Options: e.Options})
		},
		"elevenlabs": func(e config.Engine) (inference.TTS, error) {
			return elevenlabs.NewTTS(elevenlabs.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Voices: e.Voices, Options: e.Options})
		},
		"inworld": func(e config.Engine) (inference.TTS, error) {
			return inworld.NewTTS(inworld.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Voices: e.Voices, Options: e.Options})
		},
		"rime": func(e config.Engine) (inference.TTS, error) {
			return rime.NewTTS(rime.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Voices: e.Voices, Options: e.Options})
		},
	}
}

// realtimes are those that hear and speak by themselves.
var realtimes = makers[inference.Realtime]{
	"openai": func(e config.Engine) (inference.Realtime, error) { return openai.NewRealtime(dialect(e)) },
	"gemini": func(e config.Engine) (inference.Realtime, error) {
		return gemini.NewLive(gemini.LiveConfig{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Voices: e.Voices, Options: e.Options})
	},
}

func dialect(e config.Engine) openai.Config {
	return openai.Config{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Voices: e.Voices, Options: e.Options}
}
