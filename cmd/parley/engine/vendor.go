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
	"parley/inference/remote"
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
				return openai.NewLiveASR(reached(e))
			}
			return openai.NewASR(reached(e))
		},
		"assemblyai": func(e config.Engine) (inference.ASR, error) { return assemblyai.NewASR(reached(e)) },
		"cartesia":   func(e config.Engine) (inference.ASR, error) { return cartesia.NewASR(reached(e)) },
		"elevenlabs": func(e config.Engine) (inference.ASR, error) { return elevenlabs.NewASR(reached(e)) },
		"soniox":     func(e config.Engine) (inference.ASR, error) { return soniox.NewASR(reached(e)) },
		"deepgram":   func(e config.Engine) (inference.ASR, error) { return deepgram.NewASR(reached(e)) },
	}
}

// models are those that answer.
var models = makers[inference.LLM]{
	"scripted":  func(config.Engine) (inference.LLM, error) { return scripted.New(), nil },
	"openai":    func(e config.Engine) (inference.LLM, error) { return openai.NewLLM(reached(e)) },
	"anthropic": func(e config.Engine) (inference.LLM, error) { return anthropic.NewLLM(reached(e)) },
	"gemini":    func(e config.Engine) (inference.LLM, error) { return gemini.NewLLM(reached(e)) },
}

// voices are those of synthesis; embedded and neural make those that run on this machine.
func voices(embedded, neural func(config.Engine) (inference.TTS, error)) makers[inference.TTS] {
	return makers[inference.TTS]{
		espeak.Name:  embedded,
		"onnx":       neural,
		"openai":     func(e config.Engine) (inference.TTS, error) { return openai.NewTTS(reached(e)) },
		"cartesia":   func(e config.Engine) (inference.TTS, error) { return cartesia.NewTTS(reached(e)) },
		"deepgram":   func(e config.Engine) (inference.TTS, error) { return deepgram.NewTTS(reached(e)) },
		"elevenlabs": func(e config.Engine) (inference.TTS, error) { return elevenlabs.NewTTS(reached(e)) },
		"inworld":    func(e config.Engine) (inference.TTS, error) { return inworld.NewTTS(reached(e)) },
		"rime":       func(e config.Engine) (inference.TTS, error) { return rime.NewTTS(reached(e)) },
	}
}

// realtimes are those that hear and speak by themselves.
var realtimes = makers[inference.Realtime]{
	"openai": func(e config.Engine) (inference.Realtime, error) { return openai.NewRealtime(reached(e)) },
	"gemini": func(e config.Engine) (inference.Realtime, error) { return gemini.NewLive(reached(e)) },
}

// reached is an engine as its vendor's package takes it.
func reached(e config.Engine) remote.Engine {
	return remote.Engine{Name: e.Name, BaseURL: e.URL, APIKey: e.APIKey, Model: e.Model, Voices: e.Voices, Options: e.Options}
}
