package synthesiser

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"parley/inference"
	"parley/media"
)

// Rate is that of the far end where a vendor has it, otherwise 24 kHz, which every vendor has.
func Rate(c inference.VoiceConfig, has ...media.Rate) media.Rate {
	if slices.Contains(has, c.Rate) {
		return c.Rate
	}
	return media.Rate24k
}

// Voices names a vendor's voices by ours, F1 to F5 and M1 to M5. A name that is missing stands for the first of its gender
// that is there.
type Voices map[string]string

var ours = regexp.MustCompile(`^[FM][1-5]$`)

// Check says what is wrong with them: there must be one at least.
func (v Voices) Check() error {
	for name, id := range v {
		if !ours.MatchString(name) || id == "" {
			return errors.New("voices: allowed: F1 to F5 and M1 to M5, with the identifier of a voice each")
		}
	}
	if len(v) == 0 {
		return errors.New("it needs voices: one of F1 to F5 or M1 to M5 at least, with the identifier of a voice")
	}
	return nil
}

// List is the voices as an engine lists them.
func (v Voices) List(description string) (list []inference.Voice) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		gender := "female"
		if strings.HasPrefix(name, "M") {
			gender = "male"
		}
		list = append(list, inference.Voice{ID: name, Gender: gender, Description: description})
	}
	return list
}

// Of is the vendor's identifier for one of our names, or for one of its own that is listed; empty: there is none.
func (v Voices) Of(name string) string {
	if id := v[name]; id != "" {
		return id
	}
	all := slices.Sorted(maps.Keys(v))
	for _, other := range all {
		if v[other] == name {
			return name
		}
	}
	if !ours.MatchString(name) || len(all) == 0 {
		return ""
	}
	for _, other := range all {
		if other[0] == name[0] {
			return v[other]
		}
	}
	return v[all[0]]
}
