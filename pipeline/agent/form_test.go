package agent_test

import (
	"testing"

	"parley/inference/spoken"
	"parley/pipeline/agent"
)

// TestFormForVoicesThatNormalise: such a voice gets numbers as they are shown, with the
// agent's pronunciations and without pictures.
func TestFormForVoicesThatNormalise(t *testing.T) {
	a := agent.Agent{Language: "en", Pronunciation: spoken.NewDictionary([]spoken.Entry{{Word: "Lola", Say: "low la"}})}
	for normalises, want := range map[bool]string{false: "low la: three dollars and fifty cents .", true: "low la: $3.50 ."} {
		a.VoiceNormalises = normalises
		if f := a.Form("Lola: $3.50 🙂."); f.Spoken != want || f.Shown != "Lola: $3.50 🙂." {
			t.Errorf("normalises %v: %q is spoken %q", normalises, f.Shown, f.Spoken)
		}
	}
}
