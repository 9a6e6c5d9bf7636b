// Package engine makes the speech and language engines that a server is configured with, and
// chooses among them for an agent.
package engine

import (
	"cmp"
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
	"parley/inference/pocketsphinx"
	"parley/pipeline/agent"
)

// Set is the speech and language engines of a server.
type Set struct {
	ASR inference.ASR
	LLM inference.LLM
	TTS inference.TTS

	// Turns judges whether turns have ended, in languages that it knows; nil: nobody does.
	Turns inference.TurnScorer

	// VAD and Denoise are the names of the detector and the denoiser of agents that choose none.
	VAD, Denoise string

	// Failures counts failures by engine, including those that the next of a list covered.
	Failures *prometheus.CounterVec

	// Patience is how long conversations wait for recognisers.
	Patience Patience

	// Workers are the engines that run in processes of their own.
	Workers []Worker
	// Listed is each engine by itself: synthesis, then recognition, then models.
	Listed []status.Engine

	// Keys are those that accounts have set; nil: none have.
	Keys     Keys
	refusals chan refusal
	log      *slog.Logger

	// What agents may choose of.
	pools struct {
		asr pool[inference.ASR]
		llm pool[inference.LLM]
		tts pool[inference.TTS]

		realtime pool[inference.Realtime]
	}
}

// Worker is an engine that runs in processes of its own.
type Worker struct {
	Name  string
	Run   func(ctx context.Context) error
	Ready func(ctx context.Context) error
	Lag   func() time.Duration // how far it is behind the audio of calls
}

// Ready says whether all workers can do their work.
func (e *Set) Ready(ctx context.Context) error {
	for _, w := range e.Workers {
		if err := w.Ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Lag is that of the worker which is furthest behind.
func (e *Set) Lag() time.Duration {
	var most time.Duration
	for _, w := range e.Workers {
		most = max(most, w.Lag())
	}
	return most
}

// firstWords is how long an engine may take to its first words before the next of a list is tried.
const firstWords = 4 * time.Second

// New makes the configured engines. The embedded ones work while their Worker runs.
func New(cfg *config.Config, log *slog.Logger) (*Set, error) {
	e := &Set{VAD: cfg.VAD[0], Denoise: cfg.Denoise[0], refusals: make(chan refusal, refusalQueue), log: log, Failures: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "parley_engine_failovers_total", Help: "Failures of an engine after which the next of its list was tried, or none was left."}, []string{"engine"})}
	failover := func(report func(engine string, err error)) inference.FailoverConfig {
		return inference.FailoverConfig{First: firstWords, Failed: func(engine string, err error) {
			e.Failures.WithLabelValues(engine).Inc()
			log.Warn("an engine failed", "engine", engine, "err", err)
			if report != nil {
				report(engine, err)
			}
		}}
	}
	neural := NewNeural(cfg, log)
	err := cmp.Or(
		e.pools.asr.open(agent.StageASR, cfg.ASR, recognisers(func(c config.Engine) (inference.ASR, error) {
			return works(e, "asr", pocketsphinx.New(pocketsphinx.Config{Log: log})), nil
		}), func(list []inference.ASR, report func(string, error)) inference.ASR {
			if len(list) == 1 && list[0].Info().Local {
				return list[0]
			}
			return inference.NewFailoverASR(failover(report), list...) // alone too: one failed request must not leave the call deaf
		}),
		openModels(&e.pools.llm, cfg.LLM, failover),
		e.pools.tts.open(agent.StageTTS, cfg.TTS, voices(func(c config.Engine) (inference.TTS, error) {
			return works(e, "tts", espeak.New(espeak.Config{Log: log})), nil
		}, func(c config.Engine) (inference.TTS, error) {
			engine, err := neural.Voice(c)
			if err != nil {
				return nil, err
			}
			return works(e, c.Name, engine), nil
		}), func(list []inference.TTS, report func(string, error)) inference.TTS {
			if len(list) == 1 && report == nil {
				return list[0]
			}
			return inference.NewFailoverTTS(failover(report), list...)
		}),
		e.pools.realtime.open(agent.StageRealtime, cfg.Realtime, realtimes, func(list []inference.Realtime, report func(string, error)) inference.Realtime {
			switch {
			case len(list) == 0:
				return nil // only agents name one
			case report == nil:
				return list[0]
			}
			return watched{list[0], failover(report).Failed}
		}))
	if err != nil {
		return nil, err
	}
	if all := cfg.Turn.All(); len(all) > 0 {
		engine, err := neural.Turns(all[0])
		if err != nil {
			return nil, fmt.Errorf("turn: %w", err)
		}
		e.Turns = works(e, all[0].Name, engine)
	}
	e.Listed = slices.Concat(described(status.TTS, agent.StageTTS, &e.pools.tts), described(status.STT, agent.StageASR, &e.pools.asr),
		described(status.LLM, agent.StageLLM, &e.pools.llm), described(status.Realtime, agent.StageRealtime, &e.pools.realtime))
	e.ASR, e.LLM, e.TTS = e.pools.asr.chosen, e.pools.llm.chosen, e.pools.tts.chosen
	return e, nil
}

// Close ends the connections that engines keep open, when nobody uses them any more.
func (e *Set) Close() {
	e.pools.asr.close()
	e.pools.llm.close()
	e.pools.tts.close()
}

// openModels makes the language models. failover is how a list of them is tried whose failures are reported.
func openModels(p *pool[inference.LLM], stage config.Stage, failover func(report func(string, error)) inference.FailoverConfig) error {
	return p.open(agent.StageLLM, stage, models, func(list []inference.LLM, report func(string, error)) inference.LLM {
		if len(list) == 1 && report == nil {
			return list[0]
		}
		return inference.NewFailoverLLM(failover(report), list...)
	})
}

// works notes that an engine runs in processes of its own, and returns it.
func works[E interface {
	Run(context.Context) error
	Ready(context.Context) error
	Lag() time.Duration
}](e *Set, name string, engine E) E {
	e.Workers = append(e.Workers, Worker{name, engine.Run, engine.Ready, engine.Lag})
	return engine
}

// described lists the engines of one kind for the status routes.
func described[E interface{ Info() inference.Info }](kind status.Kind, stage agent.Stage, engines *pool[E]) []status.Engine {
	var list []status.Engine
	for i, engine := range engines.all {
		is := engines.listed[i]
		one := status.Engine{Kind: kind, Info: engine.Info, Options: schemaOf(stage, is.Vendor), Unproven: is.Unproven(), TakesKeys: is.TakesKeys()}
		if !is.Embedded() {
			one.Vendor = is.Vendor
		}
		if e, ok := any(engine).(interface{ Ready(context.Context) error }); ok {
			one.Ready = e.Ready
		}
		list = append(list, one)
	}
	return list
}

// Model makes the configured language model, or those of its list that wanted names.
func Model(cfg *config.Config, wanted *agent.Engines) (inference.LLM, error) {
	var list pool[inference.LLM]
	failover := func(func(string, error)) inference.FailoverConfig { return inference.FailoverConfig{First: firstWords} }
	if err := openModels(&list, cfg.LLM, failover); err != nil {
		return nil, err
	}
	return list.pick(wanted.Of(agent.StageLLM), list.chosen, nil), nil
}
