package config

import (
	"slices"
	"strings"
)

// Doubt is a setting that is allowed and that somebody should think about.
type Doubt struct {
	Name string // what it is about, for people: "simulated payments"
	Text string // why; one line without secrets
	Fix  string // what to do
	// Plain says to customers what is played beside what is real; empty: it is the operator's
	// business alone.
	Plain string
}

// Doubts lists them; the log at the start, parley doctor and the dashboard show them.
func (c *Config) Doubts() []Doubt {
	var all []Doubt
	if real := c.realEngines(); len(real) > 0 {
		if c.Payments == "simulated" {
			all = append(all, Doubt{"simulated payments",
				"payments are simulated, and " + strings.Join(real, ", ") + " costs real money: whoever has an account fills it without paying",
				"set PARLEY_PAYMENTS to stripe or none", "Payments on this server are simulated: no card is charged."})
		}
		if c.Carrier == "simulated" {
			all = append(all, Doubt{"simulated carrier",
				"the carrier is simulated, and " + strings.Join(real, ", ") + " is real: calls reach no telephone, but cost what the engines cost",
				"set PARLEY_CARRIER to telnyx, sip or none", "The carrier of this server is simulated: calls reach no real telephone."})
		}
	}
	return all
}

// embedded are the engines that cost nothing but this machine's time.
var embedded = []string{"pocketsphinx", "scripted", "espeak", "spectral", "off"}

// realEngines names the others that are configured, each with its stage.
func (c *Config) realEngines() []string {
	var found []string
	for _, s := range []struct {
		name    string
		engines []string
	}{{"ASR", c.ASR.Engines}, {"LLM", c.LLM.Engines}, {"TTS", c.TTS.Engines}} {
		for _, e := range s.engines {
			if !slices.Contains(embedded, e) {
				found = append(found, "PARLEY_"+s.name+"="+e)
			}
		}
	}
	return found
}
