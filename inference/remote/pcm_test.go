package remote_test

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"parley/inference/remote"
	"parley/media"
)

// TestPCM: samples in base64, however their text is written, are those that encoding/json reads as bytes.
func TestPCM(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 4, 3071, 3072, 3073, 3074, 6144, 9600, 9601} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		text := `"` + base64.StdEncoding.EncodeToString(b) + `"`
		want := media.AppendSamples(nil, b[:n&^1])
		for _, written := range []string{text, strings.ReplaceAll(text, "/", `\/`), strings.ReplaceAll(text, "A", `\u0041`)} {
			var m struct{ Data remote.PCM }
			if err := json.Unmarshal([]byte(`{"data": `+written+`}`), &m); err != nil || !slices.Equal([]int16(m.Data), want) {
				t.Errorf("%d bytes as %.20s: %d samples, %v", n, written, len(m.Data), err)
			}
		}
	}
	var m struct{ Data remote.PCM }
	if err := json.Unmarshal([]byte(`{"data": null}`), &m); err != nil || len(m.Data) != 0 {
		t.Errorf("null: %v %v", m.Data, err)
	}
	for _, wrong := range []string{`"AAA"`, `"AA=A"`, `"?"`, `7`, `"` + strings.Repeat("AAAA", 1024) + `A"`, `"AAA=AAAA"`} {
		if err := json.Unmarshal([]byte(`{"data": `+wrong+`}`), &m); err == nil {
			t.Errorf("%.20s: no error", wrong)
		}
	}
}
