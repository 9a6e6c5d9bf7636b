package node

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api/status"
	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/espeak"
	"parley/inference/openai"
	"parley/inference/pocketsphinx"
	"parley/inference/scripted"
)

// Engines are the speech and language engines of a node.
type Engines struct {
	ASR inference.ASR
	LLM inference.LLM
	TTS inference.TTS

	VAD, Denoise string

	// failures are counted by engine, those that the next of its list covered too.
	failures *prometheus.CounterVec

	workers []worker
	all     []status.Engine // each by itself, those that speak first
}

// worker is an engine that lives in processes of its own.
type worker struct {
	name  string
	run   func(ctx context.Context) error
	ready func(ctx context.Context) error
}

// Waits for the first words of an engine before the next of a list is tried.
const firstWords = 4 * time.Second

// NewEngines makes the configured engines; the embedded ones work while Run runs.
func NewEngines(cfg *config.Config, log *slog.Logger) (*Engines, error) {
	e := &Engines{VAD: cfg.VAD[0], Denoise: cfg.Denoise[0], failures: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "parley_engine_failovers_total", Help: "Failures of an engine after which the next of its list was tried, or none was left."}, []string{"engine"})}
	failover := inference.FailoverConfig{First: firstWords, Failed: func(engine string, err error) {
		e.failures.WithLabelValues(engine).Inc()
		log.Warn("an engine failed", "engine", engine, "err", err)
	}}
	asr, err := each(cfg.ASR, e.newASR(log))
	if err != nil {
		return nil, fmt.Errorf("ASR: %w", err)
	}
	llm, err := each(cfg.LLM, newLLM)
	if err != nil {
		return nil, fmt.Errorf("LLM: %w", err)
	}
	tts, err := each(cfg.TTS, e.newTTS(log))
	if err != nil {
		return nil, fmt.Errorf("TTS: %w", err)
	}
	e.ASR, e.LLM, e.TTS = asr[0], llm[0], tts[0]
	e.all = slices.Concat(described(status.TTS, tts), described(status.STT, asr), described(status.LLM, llm))
	if len(asr) > 1 || cfg.ASR.Engines[0] == "openai" {
		// Alone too: one failed request must not leave the call deaf.
		e.ASR = inference.NewFailoverASR(failover, asr...)
	}
	if len(llm) > 1 {
		e.LLM = inference.NewFailoverLLM(failover, llm...)
	}
	if len(tts) > 1 {
		e.TTS = inference.NewFailoverTTS(failover, tts...)
	}
	return e, nil
}

// each makes the engines of one stage, in order.
func each[E any](stage config.Stage, make func(name string, remote openai.Config) (E, error)) ([]E, error) {
	remote := openai.Config{BaseURL: stage.URL, APIKey: stage.APIKey, Model: stage.Model}
	var list []E
	for _, name := range stage.Engines {
		engine, err := make(name, remote)
		if err != nil {
			return nil, err
		}
		list = append(list, engine)
	}
	return list, nil
}

// described is what the status routes tell of the engines of one kind.
func described[E interface{ Info() inference.Info }](kind status.Kind, engines []E) []status.Engine {
	var list []status.Engine
	for _, engine := range engines {
		one := status.Engine{Kind: kind, Info: engine.Info}
		if e, ok := any(engine).(interface{ Ready(context.Context) error }); ok {
			one.Ready = e.Ready
		}
		list = append(list, one)
	}
	return list
}

func unknown(name string) error { return fmt.Errorf("there is no engine %q", name) }

func (e *Engines) newASR(log *slog.Logger) func(string, openai.Config) (inference.ASR, error) {
	return func(name string, remote openai.Config) (inference.ASR, error) {
		switch name {
		case pocketsphinx.Name:
			engine := pocketsphinx.New(pocketsphinx.Config{Log: log})
			e.workers = append(e.workers, worker{"asr", engine.Run, engine.Ready})
			return engine, nil
		case "openai":
			return openai.NewASR(remote)
		}
		return nil, unknown(name)
	}
}

func newLLM(name string, remote openai.Config) (inference.LLM, error) {
	switch name {
	case "scripted":
		return scripted.New(), nil
	case "openai":
		return openai.NewLLM(remote)
	}
	return nil, unknown(name)
}

func (e *Engines) newTTS(log *slog.Logger) func(string, openai.Config) (inference.TTS, error) {
	return func(name string, remote openai.Config) (inference.TTS, error) {
		switch name {
		case espeak.Name:
			engine := espeak.New(espeak.Config{Log: log})
			e.workers = append(e.workers, worker{"tts", engine.Run, engine.Ready})
			return engine, nil
		case "openai":
			return openai.NewTTS(remote)
		}
		return nil, unknown(name)
	}
}

// hears says whether the recogniser knows a language.
func (e *Engines) hears(language string) bool {
	for _, l := range e.ASR.Info().Languages {
		if l == language {
			return true
		}
	}
	return false
}
