package espeak

import (
	"strings"
	"testing"

	"parley/inference"
)

func TestGalicianSpelling(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{"xeito", "sheito"}, {"igrexa", "igreshha"}, {"Xesús", "shesús"}, {"texto", "testo"}, {"tórax", "tórax"},
		{"unha", "unga"}, {"algunha", "algunga"}, {"nh", "nh"}, {"muller", "muller"}, {"niño", "niño"}, {"avô", "avó"},
	} {
		s := galician([]rune(c.in))
		if string(s.text) != c.out {
			t.Errorf("%s: %s, want %s", c.in, string(s.text), c.out)
		}
		if len(s.at) != len(s.text) || s.original(len(s.text)) != len([]rune(c.in))-1 {
			t.Errorf("%s: the way back is %v", c.in, s.at)
		}
	}
}

func TestGalicianSounds(t *testing.T) {
	e := start(t)
	for word, sound := range map[string]string{"igrexa": "ʃ", "xeito": "ʃ", "unha": "ŋ", "muller": "ʎ", "chave": "tʃ", "niño": "ɲ"} {
		var sounds []string
		for _, p := range say(t, e, inference.Speech{Text: word, VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "gl"}}).phones {
			sounds = append(sounds, p.Text)
		}
		if heard := strings.Join(sounds, " "); !strings.Contains(heard, sound) {
			t.Errorf("%s: %s, want %s in it", word, heard, sound)
		}
	}
}

func TestSegments(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "short": "Hello.", "sentences": strings.Repeat("One more sentence here. ", 100),
		"no sentence": strings.Repeat("word ", 500), "no space": strings.Repeat("é", 1500), "spaces": strings.Repeat(" ", 900),
	} {
		runes, at := []rune(text), 0
		for _, s := range segments(runes) {
			if s[0] != at || s[1] <= s[0] || s[1]-s[0] > segmentChars {
				t.Fatalf("%s: segment %v after %d", name, s, at)
			}
			at = s[1]
			if name == "sentences" && at < len(runes) && !strings.HasSuffix(string(runes[s[0]:at]), ". ") {
				t.Errorf("cut within a sentence: %q", string(runes[s[0]:at]))
			}
		}
		if at != len(runes) {
			t.Errorf("%s: %d of %d spoken", name, at, len(runes))
		}
	}
}

// Marks of a spelling that is longer than the text point into the text.
func TestMarksOfGalician(t *testing.T) {
	e := start(t)
	s := say(t, e, inference.Speech{Text: "xa xoga  na igrexa, unha vez", VoiceConfig: inference.VoiceConfig{Voice: "M3", Language: "gl"}})
	var words []string
	for _, w := range s.words {
		words = append(words, w.Text)
	}
	if got := strings.Join(words, "|"); got != "xa|xoga|na|igrexa|unha|vez" {
		t.Error(got)
	}
}
