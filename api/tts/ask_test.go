package tts_test

import (
	"fmt"
	"strings"
	"testing"

	"parley/api"
	"parley/api/tts"
	"parley/inference/enginetest"
)

func TestCheck(t *testing.T) {
	s := tts.New(enginetest.NewFakeTTS())
	ask := func(format string, args ...any) string {
		return `{"text":"Hola.","voice":"F1","language":"es"` + fmt.Sprintf(format, args...) + `}`
	}
	text := func(n int) string { return strings.Repeat("é", n) }
	for _, c := range []struct {
		name, body string
		limits     tts.Limits
		code       string // empty: it is right
		detail     string
	}{
		{"plain", ask(""), tts.Streaming, "", ""},
		{"lang alone", `{"text":"Hola.","voice":"F1","lang":"es"}`, tts.Streaming, "", ""},
		{"language wins", `{"text":"Hola.","voice":"F1","language":"es","lang":"ko"}`, tts.Streaming, "", ""},
		{"region", `{"text":"Hola.","voice":"F1","language":"es_MX"}`, tts.Streaming, "", ""},
		{"newer voice", `{"text":"Hola.","voice":"ESCA_m2","language":"es"}`, tts.Streaming, "", ""},
		{"unknown fields and type", ask(`,"version":"versa-1.0","type":"tts","x":[1]`), tts.Streaming, "", ""},
		{"nulls", ask(`,"speed":null,"steps":null,"visemes":null,"lang":null`), tts.OneShot, "", ""},
		{"24 steps on the socket", ask(`,"steps":24`), tts.Streaming, "", ""},
		{"steps in words on the socket", ask(`,"steps":"many"`), tts.Streaming, "", ""},
		{"longest text", `{"voice":"F1","language":"es","text":"` + text(5000) + `"}`, tts.Streaming, "", ""},
		{"longest task", `{"voice":"F1","language":"es","text":"` + text(100_000) + `"}`, tts.Task, "", ""},
		{"8 steps", ask(`,"steps":8`), tts.OneShot, "", ""},
		{"8.0 steps", ask(`,"steps":8.0`), tts.OneShot, "", ""},

		{"not JSON", "EOS", tts.Streaming, "validation.invalid_request_format", "JSON object"},
		{"no object", `[1]`, tts.Streaming, "validation.invalid_request_format", "JSON object"},
		{"null", `null`, tts.Streaming, "validation.invalid_request_format", "text"},
		{"text is a number", `{"text":5,"voice":"F1","language":"es"}`, tts.Streaming, "validation.invalid_request_format", "text"},
		{"no text", `{"voice":"F1","language":"es"}`, tts.Streaming, "validation.invalid_request_format", "text"},
		{"blank text", `{"text":" \n\t","voice":"F1","language":"es"}`, tts.Streaming, "validation.invalid_request_format", "text"},
		{"text too long", `{"voice":"F1","language":"es","text":"` + text(5001) + `"}`, tts.Streaming, "validation.text_too_long", "5001"},
		{"task too long", `{"voice":"F1","language":"es","text":"` + text(100_001) + `"}`, tts.Task, "validation.text_too_long", "100001"},
		{"no voice", `{"text":"Hola.","language":"es"}`, tts.Streaming, "validation.invalid_voice", "voice"},
		{"unknown voice", `{"text":"Hola.","voice":"F6","language":"es"}`, tts.Streaming, "validation.invalid_voice", "F6"},
		{"no language", `{"text":"Hola.","voice":"F1"}`, tts.Streaming, "validation.invalid_language", "language"},
		{"Korean", `{"text":"Hola.","voice":"F1","lang":"ko"}`, tts.Streaming, "validation.invalid_language", "ko"},
		{"too fast", ask(`,"speed":2.01`), tts.Streaming, "validation.speed_out_of_range", "speed"},
		{"too slow", ask(`,"speed":0.49`), tts.Streaming, "validation.speed_out_of_range", "speed"},
		{"9 steps", ask(`,"steps":9`), tts.OneShot, "validation.steps_out_of_range", "steps"},
		{"0 steps", ask(`,"steps":0`), tts.Task, "validation.steps_out_of_range", "steps"},
		{"half a step", ask(`,"steps":2.5`), tts.OneShot, "validation.steps_out_of_range", "steps"},
		{"steps in words", ask(`,"steps":"6"`), tts.OneShot, "validation.steps_out_of_range", "steps"},
	} {
		a, err := tts.ParseAsk([]byte(c.body))
		if err == nil {
			_, err = s.Check(a, c.limits)
		}
		if c.code == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if p := api.ProblemOf(err); err == nil || p.Code != c.code || p.Status != 400 || p.Retryable || !strings.Contains(p.Detail, c.detail) {
			t.Errorf("%s: %+v, want %s with %q", c.name, p, c.code, c.detail)
		}
	}
}

func TestCheckedRequest(t *testing.T) {
	s := tts.New(enginetest.NewFakeTTS())
	for _, c := range []struct {
		body   string
		limits tts.Limits
		want   tts.Request
	}{
		{`{"text":" Hi.","voice":"en_f3","lang":"EN-gb"}`, tts.Streaming, tts.Request{Text: " Hi.", Voice: "F3", Language: "en", Speed: 1.05, Steps: 6}},
		{`{"text":"Hi.","voice":"m5","language":"de","steps":8,"speed":0.5,"visemes":true}`, tts.Streaming,
			tts.Request{Text: "Hi.", Voice: "M5", Language: "de", Speed: 0.5, Steps: 6, Visemes: true}},
		{`{"text":"Hi.","voice":"M5","language":"de","steps":8,"speed":2}`, tts.OneShot, tts.Request{Text: "Hi.", Voice: "M5", Language: "de", Speed: 2, Steps: 8}},
	} {
		a, err := tts.ParseAsk([]byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Check(a, c.limits); err != nil || got != c.want {
			t.Errorf("%s gives %+v, %v; want %+v", c.body, got, err, c.want)
		}
	}
}

// What can be asked for is what every engine of ours lists.
func TestVoicesAndLanguages(t *testing.T) {
	genders := map[string]int{}
	for _, v := range tts.Voices() {
		genders[v.Gender]++
		for _, name := range []string{v.ID, strings.ToLower(v.ID), "en_" + v.ID, "EN_" + v.ID, "Esca_" + strings.ToLower(v.ID)} {
			if got := tts.Voice(name); got != v.ID {
				t.Errorf("voice %s is %q", name, got)
			}
		}
		if v.Name == "" || v.Description == "" {
			t.Errorf("%+v says too little", v)
		}
	}
	if genders["female"] != 5 || genders["male"] != 5 || len(genders) != 2 {
		t.Errorf("voices: %v", genders)
	}
	for _, name := range []string{"", "F0", "F6", "M10", "en_", "clone_1", "fr_f1", "en_esca_f1"} {
		if got := tts.Voice(name); got != "" {
			t.Errorf("voice %q is %q", name, got)
		}
	}
	var codes []string
	for _, l := range tts.Languages() {
		codes = append(codes, l.Code)
		for _, tag := range []string{l.Code, strings.ToUpper(l.Code), l.Code + "-XX", l.Code + "_419"} {
			if got := tts.Language(tag); got != l.Code {
				t.Errorf("language %s is %q", tag, got)
			}
		}
	}
	if got := strings.Join(codes, " "); got != "en es ca gl eu pt fr it de" {
		t.Errorf("languages: %s", got)
	}
	for _, tag := range []string{"", "ko", "english", "-en", "e"} {
		if got := tts.Language(tag); got != "" {
			t.Errorf("language %q is %q", tag, got)
		}
	}
}
