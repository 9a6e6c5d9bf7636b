package speechtest

import (
	"os"
	"testing"

	"parley/inference/pocketsphinx"
	"parley/media/codec"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
)

// bands measures one kind of line in half the band and in all of it, as calls are heard, and prints a row of the table.
func bands(t *testing.T, e *pocketsphinx.Engine, noise string, snr float64, tracks map[string]noisetest.Track) (narrow, wide score) {
	t.Helper()
	n := measure(t, e, line{noise, snr, denoise.Spectral, codec.PCMU}, tracks)
	w := measure(t, e, line{noise, snr, denoise.Spectral, codec.G722}, tracks)
	t.Logf("| %-5s %2.0f dB | G.711 %5v %% | G.722 %5v %% | %v | %v |", noise, snr, total(n), total(w), n, w)
	return total(n), total(w)
}

// TestWidebandIsUnderstood is the short form of TestSoakWidebandIsUnderstood: a quiet line.
func TestWidebandIsUnderstood(t *testing.T) {
	e := start(t)
	_, wide := bands(t, e, "", 0, map[string]noisetest.Track{"slt": track(t, "slt"), "rms": track(t, "rms")})
	if wide.percent() > maxWordErrors {
		t.Errorf("%v %% of the words are wrong in G.722, want at most %d", wide, maxWordErrors)
	}
}

// TestSoakWidebandIsUnderstood prints how many words of a hundred are wrong, by noise, in G.711 and in G.722.
func TestSoakWidebandIsUnderstood(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set; TestWidebandIsUnderstood is the short form")
	}
	e := start(t)
	tracks := map[string]noisetest.Track{}
	for _, voice := range []string{"slt", "rms", "awb"} {
		tracks[voice] = track(t, voice)
	}
	bands(t, e, "", 0, tracks)
	for _, noise := range []string{"white", "pink", "car"} {
		bands(t, e, noise, 15, tracks)
	}
}
