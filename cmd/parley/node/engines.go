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

	patience asrPatience // of conversations with each list of recognisers

	workers []worker
	all     []status.Engine // each by itself, those that speak first

	// What agents may choose of.
	pools struct {
		asr pool[inference.ASR]
		llm pool[inference.LLM]
		tts pool[inference.TTS]
	}
}

// worker is an engine that lives in processes of its own.
type worker struct {
	name  string
	run   func(ctx context.Context) error
	ready func(ctx context.Context) error
	lag   func() time.Duration // how far it is behind those who speak or wait for speech
}

// lag is that of the worker which is furthest behind.
func (e *Engines) lag() time.Duration {
	var most time.Duration
	for _, w := range e.workers {
		most = max(most, w.lag())
	}
	return most
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
	e.all = slices.Concat(described(status.TTS, tts), described(status.STT, asr), described(status.LLM, llm))
	e.pools.asr.names, e.pools.asr.all, e.pools.asr.join = cfg.ASR.Engines, asr, func(list []inference.ASR) inference.ASR {
		if len(list) == 1 && list[0].Info().Name != "openai" {
			return list[0]
		}
		return inference.NewFailoverASR(failover, list...) // alone too: one failed request must not leave the call deaf
	}
	e.pools.llm.names, e.pools.llm.all, e.pools.llm.join = cfg.LLM.Engines, llm, func(list []inference.LLM) inference.LLM {
		if len(list) == 1 {
			return list[0]
		}
		return inference.NewFailoverLLM(failover, list...)
	}
	e.pools.tts.names, e.pools.tts.all, e.pools.tts.join = cfg.TTS.Engines, tts, func(list []inference.TTS) inference.TTS {
		if len(list) == 1 {
			return list[0]
		}
		return inference.NewFailoverTTS(failover, list...)
	}
	e.ASR, e.LLM, e.TTS = e.pools.asr.join(asr), e.pools.llm.join(llm), e.pools.tts.join(tts)
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
			e.workers = append(e.workers, worker{"asr", engine.Run, engine.Ready, engine.Lag})
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
			e.workers = append(e.workers, worker{"tts", engine.Run, engine.Ready, engine.Lag})
			return engine, nil
		case "openai":
			return openai.NewTTS(remote)
		}
		return nil, unknown(name)
	}
}
