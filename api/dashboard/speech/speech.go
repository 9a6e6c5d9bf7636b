// Package speech is the dashboard's page on which one tries speech without a call: synthesis, transcription and
// noise removal. Its script asks the API's own routes with a ticket of the sign-in, so what is tried there is
// checked, charged and refused as for programs. The template and the script are the dashboard's, whose tests use the page in a browser.
package speech

import (
	"slices"
	"strconv"

	"parley/api/dashboard/page"
	"parley/api/denoise"
	"parley/api/stt"
	"parley/api/tts"
	"parley/api/upload"
	"parley/billing"
	engines "parley/media/denoise"
)

// Where the page is, and what it is called.
const (
	At    = page.Home + "/speech"
	Title = "Speech"
)

// Pages are the addresses of this package.
func Pages() []page.Page {
	return []page.Page{{Route: "GET " + At, Serve: speechPage}}
}

// view is what can be tried.
type view struct {
	Form                             *page.Form
	Synthesis, Recognition, Cleaning Price
	Paths                            paths
}

// paths are where the API does it.
type paths struct{ Synthesis, Recognition, Cleaning string }

// Price is what work costs.
type Price struct {
	Amount billing.Money
	Per    int64 // characters, or seconds of audio, that it buys
}

// Dollars is the amount as scripts read it.
func (p Price) Dollars() string {
	return strconv.FormatFloat(float64(p.Amount)/float64(billing.USD), 'f', -1, 64)
}

// MostText is how many characters may be spoken at once.
func (*view) MostText() int { return tts.MaxText }

// MostMB is how large a recording may be.
func (*view) MostMB() int { return upload.MaxFile >> 20 }

// Voices and Languages are the choices for synthesis.
func (v *view) Voices() page.Field {
	return v.Form.Select("voice", "Voice", "", page.VoiceOptions(), "plain")
}

func (v *view) Languages() page.Field {
	return v.Form.Select("language", "Language", "en", page.LanguageOptions(), "plain")
}

// Heard are the languages that are recognised.
func (v *view) Heard() page.Field {
	choices := []page.Option{{Value: "", Label: "Detect"}}
	for _, o := range page.LanguageOptions() {
		if slices.Contains(stt.Languages(), o.Value) {
			choices = append(choices, o)
		}
	}
	return v.Form.Select("heard", "Language", "", choices, "plain")
}

// Engines are what removes noise.
func (v *view) Engines() page.Field {
	return v.Form.Select("engine", "Engine", engines.Spectral, []page.Option{{Value: engines.Spectral, Label: "Spectral"}, {Value: engines.GTCRN, Label: "Neural (GTCRN), slower"}}, "plain")
}

// perMillion and perMinute are what the prices of the rate card buy.
const (
	perMillion = 1_000_000
	perMinute  = 60
)

func speechPage(q *page.Request) error {
	v := &view{Form: page.NewForm(), Paths: paths{tts.Path, stt.TranscribePath, denoise.Path}}
	for _, p := range []struct {
		price *Price
		kind  billing.Kind
		of    billing.Component
		used  int64 // what Per stands for, as usage counts it
		per   int64
	}{
		{&v.Synthesis, billing.TTS, billing.TTSChars, perMillion, perMillion},
		{&v.Recognition, billing.STT, billing.STTTime, perMinute * 1000, perMinute},
		{&v.Cleaning, billing.Denoise, billing.DenoiseTime, perMinute * 1000, perMinute},
	} {
		tariff, err := q.Card().Tariff(billing.Terms{Kind: p.kind})
		if err != nil {
			return err
		}
		var usage billing.Usage
		usage[p.of] = p.used
		bill, err := tariff.Price(usage)
		if err != nil {
			return err
		}
		*p.price = Price{bill.Total(), p.per}
	}
	return q.Page("speech", Title, v)
}
