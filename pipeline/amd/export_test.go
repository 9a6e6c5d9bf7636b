package amd

import (
	"fmt"

	"parley/media"
)

// Settings are thresholds.
type Settings = settings

// Chosen are those of New.
func Chosen() Settings { return chosen }

// Of makes settings.
func Of(pause, longest, late media.Time) Settings { return settings{pause, longest, late} }

func (s settings) String() string {
	return fmt.Sprintf("pause %v, longest %v, late %v", s.pause.Duration(), s.longest.Duration(), s.late.Duration())
}

// With is New with other thresholds.
func With(s Settings, language string, rate media.Rate) *Detector {
	d := New(language, rate)
	d.settings = s
	return d
}
