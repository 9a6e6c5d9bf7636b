package pocketsphinx

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arpaModel reads what arpa writes, as a decoder does.
type arpaModel struct {
	prob, backoff map[string]float64
	words         []string
}

func parseARPA(t *testing.T, text []byte) arpaModel {
	t.Helper()
	m := arpaModel{prob: map[string]float64{}, backoff: map[string]float64{}}
	announced, seen := map[string]string{}, map[string]int{}
	order := ""
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "ngram "); ok {
			n, count, _ := strings.Cut(rest, "=")
			announced[n] = count
		}
		if strings.HasPrefix(line, "\\") {
			order = strings.TrimSuffix(strings.TrimPrefix(line, "\\"), "-grams:")
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) < 2 {
			continue
		}
		seen[order]++
		p, err := strconv.ParseFloat(fields[0], 64)
		if err != nil || p > 0 {
			t.Fatalf("line %q: %v", line, err)
		}
		m.prob[fields[1]] = p
		if len(fields) > 2 {
			m.backoff[fields[1]], _ = strconv.ParseFloat(fields[2], 64)
		}
		if order == "1" && fields[1] != sentenceStart {
			m.words = append(m.words, fields[1])
		}
	}
	for n, count := range announced {
		if strconv.Itoa(seen[n]) != count {
			t.Errorf("%s-grams: %d, announced %s", n, seen[n], count)
		}
	}
	return m
}

// log is the probability of word after history, by the rules of the format.
func (m arpaModel) log(history []string, word string) float64 {
	if p, ok := m.prob[strings.Join(append(slices.Clone(history), word), " ")]; ok {
		return p
	}
	if len(history) == 0 {
		return -99
	}
	return m.backoff[strings.Join(history, " ")] + m.log(history[1:], word)
}

func TestProbabilitiesSumToOne(t *testing.T) {
	n := newNgrams()
	for _, s := range []string{"yes please", "yes i do", "no thank you", "i do not", "yes"} {
		n.add(strings.Fields(s), 3)
	}
	n.add([]string{"yes", "please", "do"}, 0.25)
	m := parseARPA(t, n.arpa())
	for _, history := range [][]string{nil, {"<s>"}, {"yes"}, {"<s>", "yes"}, {"yes", "i"}, {"never", "seen"}, {"thank", "you"}, {"you"}} {
		sum := 0.0
		for _, w := range m.words {
			sum += math.Pow(10, m.log(history, w))
		}
		if math.Abs(sum-1) > 0.002 {
			t.Errorf("after %q: %v", history, sum)
		}
	}
	if likely, unlikely := m.log([]string{"<s>", "yes"}, "please"), m.log([]string{"<s>", "yes"}, "thank"); likely < unlikely+0.5 {
		t.Errorf("seen %v, unseen %v", likely, unlikely)
	}
}

func TestSentences(t *testing.T) {
	for in, want := range map[string]string{
		"Hello, World! How are you?":         "hello world|how are you",
		"We're open 9:00 am - 6:30 p.m.":     "we're open nine a m six thirty p m",
		"It costs $25 or 30 € or 10%.":       "it costs twenty five dollars or thirty euros or ten percent",
		"on the 1st, 2nd, 20th and 31st":     "on the first second twentieth and thirty first",
		"in 1998 and 2026, 1,250 people":     "in nineteen ninety eight and twenty twenty six twelve fifty people",
		"call 0800 5551":                     "call zero eight zero zero five thousand five hundred fifty one",
		"call 5550199 now":                   "call five five five zero one nine nine now",
		"3.5 stars; 18:05":                   "three point five stars|six oh five",
		"I am here at 9 am":                  "i am here at nine a m",
		"Café «Zürich» & Söhne, O’Neill's":   "cafe zurich and sohne o'neill's",
		"Ask for {{name}} - then 'confirm'.": "ask for|name|then confirm",
		"日本語 and русский":                    "and",
		"":                                   "",
		"24/7 2000":                          "twenty four seven two thousand",
	} {
		var got []string
		for _, s := range sentences(in) {
			got = append(got, strings.Join(s, " "))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", in, strings.Join(got, "|"), want)
		}
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range append(prompt, "1st st am 12:99:3.4.", "'' 's $€1,,2", "\x00\xff{") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range sentences(text) {
			for _, w := range s {
				if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz'") != "" || len(guess(w)) == 0 {
					t.Fatalf("word %q", w)
				}
			}
		}
	})
}

func TestExpand(t *testing.T) {
	got := expand("# comment\n= n: one | two\n= x: a | b c\n\nsay {n}\n{n} {x}\nplain", nil)
	var lines []string
	weight := 0.0
	for _, s := range got {
		lines = append(lines, strings.Join(s.words, " "))
		weight += s.weight * s.weight
	}
	if strings.Join(lines, "|") != "say one|say two|one a|two a|one b c|two b c|plain" {
		t.Error(lines)
	}
	if math.Abs(weight-3) > 1e-9 {
		t.Errorf("weights: %v", got)
	}
}

var dictionaryPath = filepath.Join(defaultModelDir, "cmudict-en-us.dict")

// Every everyday word is in the dictionary: none is spelled wrong, none guessed.
func TestCore(t *testing.T) {
	words := map[string]bool{}
	for _, s := range core() {
		for _, w := range s.words {
			words[w] = true
		}
	}
	cut, guessed, err := dictionary(dictionaryPath, words)
	if err != nil || guessed > 0 {
		t.Errorf("%d words guessed, %v:\n%s", guessed, err, cut)
	}
	t.Logf("%d sentences, %d words", len(core()), len(words))
	if len(words) < 500 {
		t.Errorf("only %d words", len(words))
	}
}

func TestDictionary(t *testing.T) {
	cut, guessed, err := dictionary(dictionaryPath, map[string]bool{"a": true, "hello": true, "frobnicator": true, "xkcd": true})
	if err != nil || guessed != 2 {
		t.Fatalf("%d guessed, %v", guessed, err)
	}
	for _, want := range []string{"a AH\n", "a(2) EY\n", "hello HH AH L OW\n", "frobnicator F R AA B N IH K AE T AO R\n", "xkcd EH K S K EY S IY D IY\n"} {
		if !strings.Contains(string(cut), want) {
			t.Errorf("no %q in\n%s", want, cut)
		}
	}
	if _, _, err := dictionary("/nonexistent", nil); err == nil || !strings.Contains(err.Error(), "pocketsphinx-en-us") {
		t.Errorf("missing file: %v", err)
	}
}

// Guesses use the model's phonemes only: one unknown phoneme would cost the word.
func TestGuess(t *testing.T) {
	known := map[string]bool{}
	all, err := os.ReadFile(dictionaryPath)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(all)) {
		for _, p := range strings.Fields(line)[1:] {
			known[p] = true
		}
	}
	for _, sounds := range letterSounds {
		for p := range strings.FieldsSeq(sounds) {
			if !known[p] {
				t.Errorf("phoneme %s", p)
			}
		}
	}
	for word, want := range map[string]string{
		"blake": "B L EY K", "zimmo": "Z IH M OW", "quish": "K W IH SH", "fennel": "F EH N EH L", "gdpr": "JH IY D IY P IY AA R",
		"nation": "N AE SH AH N", "e": "EH", "parley": "P AA R L IY", "rice": "R AY S",
	} {
		if got := strings.Join(guess(word), " "); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

func TestModelsAreSharedAndBounded(t *testing.T) {
	m := models{path: dictionaryPath}
	first := m.get([]string{"one sentence"})
	if m.get([]string{"one sentence"}) != first {
		t.Error("built again for the same phrases")
	}
	if m.get([]string{"one", "sentence"}) == first {
		t.Error("shared by other phrases")
	}
	for i := range maxModels {
		m.get([]string{count(i)[0], strings.Repeat("x", i+1)})
	}
	if len(m.made) != maxModels {
		t.Errorf("%d models kept", len(m.made))
	}
	broken := models{path: "/nonexistent"}
	if x := broken.get([]string{"a"}); x.err == nil || len(broken.made) != 0 {
		t.Error("a failure is kept")
	}
	huge := m.get([]string{strings.Repeat("some words without an end ", 50000)})
	if huge.err != nil || len(huge.payload) > 3<<20 {
		t.Errorf("%d bytes, %v", len(huge.payload), huge.err)
	}
}

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		build(dictionaryPath, prompt)
	}
}
