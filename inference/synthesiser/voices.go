package synthesiser

import (
	"cmp"
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
// that is there. F1-es is what F1 is in Spanish, where that is another voice.
type Voices map[string]string

var (
	ours     = regexp.MustCompile(`^[FM][1-5]$`)
	inOthers = regexp.MustCompile(`^([FM][1-5])-[a-z]{2}$`)
)

// Check says what is wrong with them: there must be one at least.
func (v Voices) Check() error {
	for name, id := range v {
		if of := inOthers.FindStringSubmatch(name); of != nil && v[of[1]] == "" {
			return errors.New("voices: " + name + " is a voice of " + of[1] + ", which is missing")
		} else if of == nil && !ours.MatchString(name) || id == "" {
			return errors.New("voices: allowed: F1 to F5 and M1 to M5, and these in a language as in F1-es, with the identifier of a voice each")
		}
	}
	if len(v) == 0 {
		return errors.New("it needs voices: one of F1 to F5 or M1 to M5 at least, with the identifier of a voice")
	}
	return nil
}

// List is the voices as an engine lists them.
func (v Voices) List(description string) (list []inference.Voice) {
	for _, name := range v.names() {
		gender := "female"
		if strings.HasPrefix(name, "M") {
			gender = "male"
		}
		list = append(list, inference.Voice{ID: name, Gender: gender, Description: description})
	}
	return list
}

// names are ours that are there.
func (v Voices) names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(v)), func(name string) bool { return !ours.MatchString(name) })
}

// Of is the vendor's identifier for one of our names, or for one of its own that is listed, whatever it speaks; empty: there
// is none.
func (v Voices) Of(name string) string { return v[v.find(name)] }

// For is Of the voice that speaks a text, in its language.
func (v Voices) For(c inference.VoiceConfig) string {
	name := v.find(c.Voice)
	return cmp.Or(v[name+"-"+c.Language], v[name])
}

// find is which of our names stands for a name; empty: none does.
func (v Voices) find(name string) string {
	if v[name] != "" {
		return name
	}
	all := v.names()
	for _, other := range all {
		if v[other] == name {
			return other
		}
	}
	if !ours.MatchString(name) || len(all) == 0 {
		return ""
	}
	for _, other := range all {
		if other[0] == name[0] {
			return other
		}
	}
	return all[0]
}
