package conversation

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"parley/billing"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
	"parley/inference/enginetest"
	"parley/media"
	"parley/media/denoise"
	"parley/media/vad"
	"parley/media/wav"
	"parley/pipeline/agent"
	"parley/pipeline/listen"
)

// TestFrontEndOfAnAgent: calls are heard by the detector and the denoiser that the agent names, and by
// the server's where it names none.
func TestFrontEndOfAnAgent(t *testing.T) {
	m := Maker{Engines: &engine.Set{ASR: enginetest.NewFakeASR(), LLM: enginetest.NewFakeLLM(), TTS: enginetest.NewFakeTTS(), VAD: vad.Spectral, Denoise: denoise.Spectral},
		Card: func() *billing.RateCard { return new(billing.RateCard) }}
	for _, c := range []struct{ engines, denoiser, detector string }{
		{`{}`, denoise.Spectral, vad.Spectral},
		{`{"vad":"silero","denoise":"gtcrn"}`, denoise.GTCRN, vad.Silero},
		{`{"vad":["silero"],"denoise":[]}`, denoise.Spectral, vad.Silero},
		{`{"denoise":"off"}`, denoise.Off, vad.Spectral},
		{`{"vad":"gone","denoise":"gone"}`, denoise.Spectral, vad.Spectral}, // stored by another version
	} {
		stored := NewAgent()
		stored.Settings = json.RawMessage(`{"engines":` + c.engines + `}`)
		plan := PlanOf(&stored, slog.New(slog.DiscardHandler))
		cfg, _, err := m.config(*m.chosen(t.Context(), "", &plan), &plan, media.Rate16k, nil)
		if err != nil {
			t.Fatal(err)
		}
		if next, _ := m.part(*m.chosen(t.Context(), "", &plan), &plan, media.Rate16k, nil); next.FrontEnd != nil {
			t.Errorf("%s: an agent that takes a call over brings a front end", c.engines)
		}
		want, err := listen.NewFrontEnd(c.denoiser, c.detector, media.Rate16k)
		if err != nil {
			t.Fatal(err)
		}
		heard := hears(t, cfg.FrontEnd)
		if !slices.Equal(heard, hears(t, want)) {
			t.Errorf("%s: it is not %s and %s", c.engines, c.denoiser, c.detector)
		}
		if usual, _ := listen.NewFrontEnd(denoise.Spectral, vad.Spectral, media.Rate16k); c.denoiser+c.detector != denoise.Spectral+vad.Spectral && slices.Equal(heard, hears(t, usual)) {
			t.Errorf("%s: nothing tells it from the server's", c.engines)
		}
	}
}

// hears is what a front end makes of somebody who speaks: the samples, and where there is speech 1.
func hears(t *testing.T, front listen.FrontEnd) (out []int16) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "testdata", "speech", "opening-hours.wav"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	clip, err := wav.Decode(file, 1<<30)
	if err != nil || clip.Rate != media.Rate16k {
		t.Fatal(clip.Rate, err)
	}
	for n := clip.Rate.FrameSamples(); len(clip.Samples) >= n; clip.Samples = clip.Samples[n:] {
		f, a := front.Hear(media.Frame{Samples: clip.Samples[:n], Rate: clip.Rate})
		speech := int16(0)
		if a.Speech {
			speech = 1
		}
		out = append(append(out, f.Samples...), speech)
	}
	return out
}

// TestBuiltEnginesAreInTheSchema: agents may name every detector and denoiser that the server may be set to.
func TestBuiltEnginesAreInTheSchema(t *testing.T) {
	engines := agent.SettingsSchema.Properties["engines"]
	for _, stage := range []agent.Stage{agent.StageVAD, agent.StageDenoise} {
		if described, built := engines.Properties[string(stage)].Either[0].Enum, config.Built(string(stage)); len(built) == 0 || !slices.Equal(described, built) {
			t.Errorf("%s: described are %v, built are %v", stage, described, built)
		}
	}
}
