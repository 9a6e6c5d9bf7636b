package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
	"parley/inference"
	"parley/inference/espeak"
	"parley/inference/pocketsphinx"
	"parley/inference/worker"
	"parley/media"
	"parley/media/resample"
)

// probe tries an engine; its text says what it found out besides that the engine works.
type probe func(context.Context) (string, error)

// checkEngines starts every engine that is configured. One that others can stand in
// for is a doubt when it fails.
func checkEngines(ctx context.Context, cfg *config.Config) []Finding {
	var all []Finding
	for _, stage := range []struct {
		name string
		config.Stage
		try map[string]probe
	}{
		{"asr", cfg.ASR, map[string]probe{pocketsphinx.Name: hear}},
		{"llm", cfg.LLM, nil},
		{"tts", cfg.TTS, map[string]probe{espeak.Name: speakAWord}},
		{"realtime", cfg.Realtime, nil},
		{"turn", cfg.Turn, nil},
	} {
		for i, e := range stage.All() {
			name := stage.name + " engine"
			try, ours := stage.try[e.Name]
			switch {
			case e.AccountKeys:
				all = append(all, good("%s, for accounts with keys of their own", e.Name).of(name))
				continue
			case e.Vendor == "openai" && stage.name != "realtime":
				try = func(ctx context.Context) (string, error) { return "", reachEngine(ctx, e) }
			case ours:
			case e.Neural():
				try = func(ctx context.Context) (string, error) { return "", startNeural(ctx, cfg, stage.name, e) }
			case e.APIKey != "", stage.name == "realtime":
				try = func(ctx context.Context) (string, error) { return "", engine.Try(ctx, stage.name, e) }
			default: // lives in the server itself
				all = append(all, good("%s, built in", e.Name).of(name))
				continue
			}
			f := judgeEngine(ctx, e, stage.name, try).of(name)
			if f.Status == Broken && i > 0 {
				f.Status = Doubt
			}
			all = append(all, f)
		}
	}
	return all
}

func judgeEngine(ctx context.Context, e config.Engine, stage string, try probe) Finding {
	ctx, cancel := context.WithTimeout(ctx, enginePatience)
	defer cancel()
	more, err := try(ctx)
	if err != nil {
		fix := "parley-speech must lie beside parley or on the PATH (make build), with espeak-ng, pocketsphinx and pocketsphinx-en-us installed"
		switch {
		case e.Neural():
			fix = "make onnx brings ONNX Runtime; parley models verify " + e.Model + " reads the files of the model"
		case e.Name != e.Vendor:
			fix = "check url, key and options of " + e.Name + " in the list of engines, and that its server runs"
		case e.Vendor == "openai" || e.APIKey != "":
			fix = "check PARLEY_" + strings.ToUpper(stage) + "_URL and PARLEY_" + strings.ToUpper(stage) + "_API_KEY, and that the server runs"
		}
		return fail(fix, "%s: %v", e.Name, err)
	}
	return good("%s works%s", e.Name, more)
}

// startNeural opens the model of an engine, which is held to what the engine relies on.
func startNeural(ctx context.Context, cfg *config.Config, stage string, e config.Engine) error {
	neural := engine.NewNeural(cfg, slog.New(slog.DiscardHandler))
	if stage == "turn" {
		made, err := neural.Turns(e)
		if err != nil {
			return err
		}
		return during(ctx, made.Run, made.Ready)
	}
	made, err := neural.Voice(e)
	if err != nil {
		return err
	}
	return during(ctx, made.Run, made.Ready)
}

// during runs an engine's workers while use does.
func during(ctx context.Context, run func(context.Context) error, use func(context.Context) error) error {
	if _, err := worker.Locate(); err != nil {
		return err // the engine would go on looking for it
	}
	working, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { _ = run(working) }) // what is wrong with it, use finds out
	return use(ctx)
}

// speakAWord has the embedded voice speak.
func speakAWord(ctx context.Context) (string, error) {
	_, err := Say(ctx, "hello", media.Rate16k)
	return "", err
}

// Say is a text in the embedded voice, which works meanwhile.
func Say(ctx context.Context, text string, rate media.Rate) (said []int16, err error) {
	e := espeak.New(espeak.Config{Processes: 1, Log: slog.New(slog.DiscardHandler)})
	return said, during(ctx, e.Run, func(ctx context.Context) error {
		if err := e.Ready(ctx); err != nil {
			return err
		}
		for c, err := range e.Speak(ctx, inference.Speech{Text: text, VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}}) {
			if err != nil {
				return err
			}
			said = append(said, resample.All(c.Samples, c.Rate, rate)...)
		}
		if len(said) == 0 {
			return errors.New("it says nothing")
		}
		return nil
	})
}

// hear starts the embedded recogniser, and measures how many callers who speak at the same
// time it can follow: one process serves as many as it is faster than real time.
func hear(ctx context.Context) (found string, err error) {
	const text = "Good morning, your table for two is booked for Friday evening at eight."
	said, saidErr := Say(ctx, text, media.Rate16k)
	e := pocketsphinx.New(pocketsphinx.Config{Processes: 1, Log: slog.New(slog.DiscardHandler)})
	return found, during(ctx, e.Run, func(ctx context.Context) error {
		if err := e.Ready(ctx); err != nil {
			return err
		}
		r, err := e.Open(ctx, inference.ASRConfig{Language: "en", Hints: inference.Hints{Terms: []string{text}}})
		if err != nil {
			return err
		}
		defer r.Close()
		if saidErr != nil {
			return nil // there is nothing to measure with
		}
		began := time.Now()
		r.Write(said)
		for last := r.Finish(); ; {
			select {
			case result, open := <-r.Results():
				if !open {
					return errors.New("it ended before it had heard a sentence")
				}
				if result.Utterance == last && result.Last {
					faster := media.Rate16k.Duration(len(said)).Duration().Seconds() / time.Since(began).Seconds()
					found = fmt.Sprintf("; at the moment this machine follows about %.0f callers who speak at the same time", faster*float64(runtime.NumCPU()))
					return nil
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
}

// reachEngine asks a remote engine's server for its models: whatever it answers, it is
// there, unless it refuses the key.
func reachEngine(ctx context.Context, s config.Engine) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/models", nil)
	if err != nil {
		return err
	}
	if s.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+s.APIKey)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return fmt.Errorf("%s refuses the key (%d)", s.URL, resp.StatusCode)
	}
	return nil
}

// checkEmbeddings has a word get a vector. Without vectors documents are found by their words.
func checkEmbeddings(ctx context.Context, cfg *config.Config) Finding {
	ctx, cancel := context.WithTimeout(ctx, enginePatience)
	defer cancel()
	const fix = "check PARLEY_EMBEDDINGS_URL, PARLEY_EMBEDDINGS_API_KEY and PARLEY_EMBEDDINGS_MODEL, and that the server runs"
	e, err := engine.Embeddings(cfg)
	if err != nil {
		return warn(fix, "%v", err)
	}
	vectors, err := e.Embed(ctx, []string{"hello"})
	if err != nil {
		return warn(fix, "%v", err)
	}
	return good("%s works, with %d numbers a vector", e.Model(), len(vectors[0]))
}

// FFmpeg looks for the program that reads and writes compressed audio. It needs no settings.
func FFmpeg(ctx context.Context) Finding {
	const fix = "apt-get install ffmpeg"
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		return warn(fix, "is not installed: recordings must be WAV, and there is no mp3").of("ffmpeg")
	}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-hide_banner", "-version").Output()
	if err != nil {
		return warn(fix, "%s does not run: %v", path, err).of("ffmpeg")
	}
	line, _, _ := strings.Cut(string(out), " Copyright")
	return good("%s", strings.TrimSpace(line)).of("ffmpeg")
}
