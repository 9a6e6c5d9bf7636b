package spoken

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var codes = []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"}

// TestGolden reads testdata/<language>.txt: what is shown, an arrow, what is spoken.
// PARLEY_GOLDEN=update writes what is spoken now.
func TestGolden(t *testing.T) {
	for _, code := range codes {
		path := filepath.Join("testdata", code+".txt")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := New(code, nil)
		var now bytes.Buffer
		n := 0
		for line := range strings.Lines(string(data)) {
			shown, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
			got := r.Read(Plain(shown)).Spoken
			now.WriteString(shown + " => " + got + "\n")
			if n++; got != want && os.Getenv("PARLEY_GOLDEN") != "update" {
				t.Errorf("%s: %q is spoken %q, want %q", code, shown, got, want)
			}
		}
		if n < 60 {
			t.Errorf("%s has %d lines", code, n)
		}
		if os.Getenv("PARLEY_GOLDEN") == "update" {
			if err := os.WriteFile(path, now.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// goldenLines are the shown texts of all languages.
func goldenLines(t testing.TB) (lines []string) {
	for _, code := range codes {
		data, err := os.ReadFile(filepath.Join("testdata", code+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			shown, _, _ := strings.Cut(line, " => ")
			lines = append(lines, shown)
		}
	}
	return lines
}

// TestUnspoken: markup and pictures are not spoken, and what is beside them is.
func TestUnspoken(t *testing.T) {
	r := New("en", nil)
	for shown, want := range map[string]string{
		"Hello 👋🏽!":                      "Hello !",
		"👨‍👩‍👧‍👦 family":                 "family",
		"Made in 🇪🇸 Spain":               "Made in Spain",
		"Press 1️⃣ now":                  "Press one now",
		"Press 1️⃣2️⃣":                   "Press one two",
		"Press #️⃣ or *️⃣":               "Press or ",
		"I ❤️ it ™":                      "I it ™",
		"✅ Done ➡️ next":                 "Done next",
		"`code` and ~~gone~~":            "code and gone",
		"x_1 and a*b":                    "x one and a b",
		"Caf\u00e9 cafe\u0301":           "Caf\u00e9 cafe\u0301",
		"a\u200bb":                       "a b",
		"A .5x zoom":                     "A . five x zoom",
		"٣ apples":                       "three apples",
		"E = mc²":                        "E equals mc two",
		"{\"a\": [1, 2]}":                "\"a\": one, two",
		"What? No! Yes... (maybe); it's": "What? No! Yes... (maybe); it's",
	} {
		if got := r.Read(Plain(shown)).Spoken; got != want {
			t.Errorf("%q is spoken %q, want %q", shown, got, want)
		}
	}
	for _, code := range codes {
		if f := New(code, nil).Read("No digits here"); f.Spoken != f.Shown {
			t.Errorf("%s: %q", code, f.Spoken)
		}
	}
	if f := New("ja", nil).Read("3 🎉 apples"); f.Spoken != "3 apples" {
		t.Errorf("an unknown language: %q", f.Spoken)
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"# Our *menu*":                              "Our menu",
		"## Title ##":                               "Title",
		"**Bold** and __strong__, _soft_":           "Bold and strong, soft",
		"***both***":                                "both",
		"- one\n* two\n+ three\n1. four":            "one\ntwo\nthree\n1. four",
		"- [ ] to do\n- [x] done":                   "to do\ndone",
		"> quoted\n> > twice":                       "quoted\ntwice",
		"| a | b |\n|---|:-:|\n| 1 | 2 |":           "a, b\n\n1, 2",
		"```go\nx := 1\n```":                        "\nx := 1\n",
		"see [the *site*](https://a.b/c_d_(e)) now": "see the site now",
		"![a cat](cat.png)":                         "a cat",
		"[one][1] and [^2] and [three]":             "one and  and [three]",
		"<b>bold</b><br/>new <https://x.y> a < b":   "bold new https://x.y a < b",
		"<!-- no -->yes":                            "yes",
		"Tom &amp; Jerry&nbsp;&lt;3":                "Tom & Jerry <3",
		`5 \* 3 and \_x\_`:                          "5 * 3 and _x_",
		"5 * 3, 5*3, snake_case, ~5, a~~b~~":        "5 * 3, 5*3, snake_case, ~5, ab",
		"---\n***\n===":                             "\n\n",
		"**half":                                    "half",
		"the end](http://x.y) of it":                "the end of it",
		"no markup — at all…":                       "no markup — at all…",
		"#tag #1 C#":                                "#tag #1 C#",
		"dial *21*5550#, *#06# or 12*#, not *12*":   "dial *21*5550#, *#06# or 12*#, not 12",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is plainly %q, want %q", text, got, want)
		}
	}
}

func TestDictionary(t *testing.T) {
	r := New("en", NewDictionary([]Entry{{"Parley", "par lay"}, {"parley pro", "par lay pro"}, {"SQL", "sequel"}, {"C++", "see plus plus"}, {"4U", "for you"}, {"Ünal", "oo nal"}, {".NET", "dot net"}, {"Route 66", "root 66"}}))
	for shown, want := range map[string]string{
		"PARLEY speaks SQL.":      "par lay speaks sequel.",
		"Parley Pro, not parleys": "par lay pro, not parleys",
		"MySQL and SQLite":        "MySQL and SQLite",
		"C++ and .net for 4u":     "see plus plus and dot net for for you",
		"ünal's route 66":         "oo nal's root sixty-six",
		"parley-pro (Parley)":     "par lay-pro (par lay)",
	} {
		if got := r.Read(shown).Spoken; got != want {
			t.Errorf("%q is spoken %q, want %q", shown, got, want)
		}
	}
	long := strings.Repeat("x", MaxBytes+1)
	for _, bad := range [][]Entry{{{"", "a"}}, {{"a", " "}}, {{"...", "a"}}, {{long, "a"}}, {{"a", long}}, {{"a\xff", "b"}}, make([]Entry, MaxEntries+1)} {
		if Check(bad) == nil {
			t.Errorf("%.40v is allowed", bad)
		}
	}
	if err := Check([]Entry{{"Parley", "par lay"}}); err != nil {
		t.Error(err)
	}
}

// TestAlignment: what was said leads back to what is shown, by whole words.
func TestAlignment(t *testing.T) {
	for _, c := range []struct{ code, shown, said, want string }{
		{"en", "That is 25 EUR, please.", "That is", "That is"},
		{"en", "That is 25 EUR, please.", "That is twenty-five ", "That is "},
		{"en", "That is 25 EUR, please.", "That is twenty-five euros", "That is 25 EUR"},
		{"en", "That is 25 EUR, please.", "That is twenty-five euros, ", "That is 25 EUR, "},
		{"de", "Am 3. Mai um 8 Uhr.", "Am dritten", "Am 3."},
		{"es", "Llame al 612 345 678 hoy.", "Llame al seis uno dos", "Llame al 612 "},
		{"es", "Llame al 612 345 678 hoy.", "Llame al seis uno dos, tres", "Llame al 612 "},
		{"en", "Yes 🎉 and no", "Yes ", "Yes 🎉 "},
		{"en", "as it is shown", "as it", "as it"},
	} {
		f := New(c.code, nil).Read(c.shown)
		if !strings.HasPrefix(f.Spoken, c.said) {
			t.Errorf("%q is spoken %q", c.shown, f.Spoken)
		}
		got := string([]rune(c.shown)[:f.ShownAt(utf8.RuneCountInString(c.said))])
		if got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.said, c.shown, got, c.want)
		}
	}
}

// anything is a text of a conversation, of markup and numbers, or of anything.
func anything(t *rapid.T, lines []string) string {
	part := rapid.OneOf(rapid.SampledFrom(lines), rapid.String(),
		rapid.StringOf(rapid.RuneFrom([]rune("0123456789.,:/-+()€$%hºª½x \u00a0"))),
		rapid.StringOf(rapid.RuneFrom([]rune("a*_`#|~[]()<>&;!\\- \n1👍🏽\u200d\ufe0f\u20e3🇪"))))
	return strings.Join(rapid.SliceOfN(part, 0, 4).Draw(t, "parts"), rapid.SampledFrom([]string{" ", "", "\n"}).Draw(t, "sep"))
}

// TestSpokenOfAnything: no digit, no markup and no emoji reaches a voice, the way
// back covers all and never turns, and nothing grows out of bounds.
func TestSpokenOfAnything(t *testing.T) {
	lines := goldenLines(t)
	readers := map[string]*Reader{}
	for _, code := range codes {
		readers[code] = New(code, NewDictionary([]Entry{{"euro", "oiro 1"}, {"1", "won"}}))
	}
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.SampledFrom(codes).Draw(t, "code")
		f := readers[code].Read(Plain(anything(t, lines)))
		if i := strings.IndexFunc(f.Spoken, unspeakable); i >= 0 {
			t.Fatalf("%s: %q holds %q", code, f.Spoken, f.Spoken[i:])
		}
		checkForm(t, f)
	})
}

func unspeakable(c rune) bool {
	return isDigit(c) || silent(c) || c >= 0x1f000 && c <= 0x1faff || c == '\u20e3' || c == '\u200d' || c == '\ufe0f'
}

type failer interface{ Fatalf(string, ...any) }

func checkForm(t failer, f *Form) {
	spoken, shown := utf8.RuneCountInString(f.Spoken), len([]rune(f.Shown))
	if spoken > 60*shown+200 {
		t.Fatalf("%d characters of %d", spoken, shown)
	}
	last := 0
	for i := range spoken + 2 {
		k := f.ShownAt(i)
		if k < last || k > shown {
			t.Fatalf("%q, %q: %d at %d after %d", f.Shown, f.Spoken, k, i, last)
		}
		last = k
	}
	if f.ShownAt(spoken) != shown {
		t.Fatalf("%q, %q: the whole is %d", f.Shown, f.Spoken, f.ShownAt(spoken))
	}
}

// TestWordsAreKept: what is neither number nor markup is spoken letter by letter.
func TestWordsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("abñéß漢, .!?¿"))).Draw(t, "text")
		code := rapid.SampledFrom(codes).Draw(t, "code")
		if slices.Contains(domains, "ab") || strings.Contains(text, ".") {
			text = strings.ReplaceAll(text, ".", ". ")
		}
		if f := New(code, nil).Read(Plain(text)); f.Spoken != text {
			t.Fatalf("%q is spoken %q", text, f.Spoken)
		}
	})
}

// TestCardinals: each number has words of its own, in every language and form.
func TestCardinals(t *testing.T) {
	for _, code := range codes {
		l := languages[code]
		for _, u := range []use{alone, masculine, feminine} {
			seen := map[string]int64{}
			for n := int64(0); n < 1_000_000_000_000_000; n = n + 1 + max(0, n-2100)/3 {
				words := l.cardinal(n, u)
				if m, ok := seen[words]; ok || words != strings.TrimSpace(words) || words == "" || strings.Contains(words, "  ") || strings.ContainsFunc(words, unicode.IsDigit) {
					t.Fatalf("%s: %d is %q, as %d", code, n, words, m)
				}
				seen[words] = n
			}
		}
		for n := range int64(100) {
			for _, suffix := range []string{"º", "ª", "e", "th", "te", "r", "an"} {
				l.suffixed(n, suffix) // none of them panics
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for i, line := range goldenLines(f) {
		if i%9 == 0 {
			f.Add(line, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, code uint8) {
		form := New(codes[int(code)%len(codes)], nil).Read(Plain(text))
		if strings.ContainsFunc(form.Spoken, unspeakable) {
			t.Fatalf("%q", form.Spoken)
		}
		if len(text) < 2000 {
			checkForm(t, form)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r := New("es", NewDictionary([]Entry{{"Parley", "parlei"}}))
	const text = "Son 1.234,56 € por 21 noches, del 3 al 24 de mayo de 2026; le llamo al 612 345 678 a las 14:30 h."
	b.ReportAllocs()
	for b.Loop() {
		r.Read(Plain(text))
	}
}

func BenchmarkReadWords(b *testing.B) {
	r := New("en", nil)
	const text = "Of course, I can help you with that; let me look for a table near the window that is still free then."
	b.ReportAllocs()
	for b.Loop() {
		r.Read(Plain(text))
	}
}

// TestLongTexts: time is in proportion to the text, whatever it is made of; with
// the square of it this would take hours.
func TestLongTexts(t *testing.T) {
	for _, part := range []string{"1", "1.", "1,111", "1 ", "12:", "a", "a.", "a@", "1/", "+1 ", "-", "[", "](", "<a ", "*", "&", "1-", "€", "1 111 ", "ª1", " ", "(1"} {
		text := strings.Repeat(part, 30_000/len(part))
		for _, code := range []string{"en", "eu"} {
			f := New(code, NewDictionary([]Entry{{"a", "b"}, {"1 1 1", "c"}})).Read(Plain(text))
			if n := utf8.RuneCountInString(f.Shown); f.ShownAt(len(f.Spoken)) != n || len(f.Spoken) > 40*len(text) {
				t.Errorf("%s: %q: %d bytes", code, part, len(f.Spoken))
			}
		}
	}
}
